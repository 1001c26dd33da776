// One instruction each, in its common types, roundings and modifiers.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <sstream>

#include "cases.h"

namespace gemmtune::ptxsim::hardware {

namespace {

constexpr uint32_t kThreads = 256;
constexpr size_t kSlotBytes = 8;  // of each operand, and of the result

// Operands a, b, c (as many as named after the result), predicates p, q, r (r: the thread's index
// is odd), 32-bit e, f (of c: two bit-field numbers), t, u. A bound other than 0 is the largest
// difference from the outputs of an H200, to the last bit.
struct Row {
  const char* text;
  const char* types;  // of d, a, b, c
  double ulps;
  double absolute;
  uint32_t arch;
};

constexpr Row kRows[] = {
    {"add.s32 d, a, b;", "s32 s32 s32", 0, 0, 80},
    {"sub.s32 d, a, b;", "s32 s32 s32", 0, 0, 80},
    {"mul.lo.s32 d, a, b;", "s32 s32 s32", 0, 0, 80},
    {"mul.hi.s32 d, a, b;", "s32 s32 s32", 0, 0, 80},
    {"div.s32 d, a, b;", "s32 s32 s32", 0, 0, 80},
    {"rem.s32 d, a, b;", "s32 s32 s32", 0, 0, 80},
    {"min.s32 d, a, b;", "s32 s32 s32", 0, 0, 80},
    {"max.s32 d, a, b;", "s32 s32 s32", 0, 0, 80},
    {"mad.lo.s32 d, a, b, c;", "s32 s32 s32 s32", 0, 0, 80},
    {"sad.s32 d, a, b, c;", "s32 s32 s32 s32", 0, 0, 80},
    {"add.u32 d, a, b;", "u32 u32 u32", 0, 0, 80},
    {"sub.u32 d, a, b;", "u32 u32 u32", 0, 0, 80},
    {"mul.lo.u32 d, a, b;", "u32 u32 u32", 0, 0, 80},
    {"mul.hi.u32 d, a, b;", "u32 u32 u32", 0, 0, 80},
    {"div.u32 d, a, b;", "u32 u32 u32", 0, 0, 80},
    {"rem.u32 d, a, b;", "u32 u32 u32", 0, 0, 80},
    {"min.u32 d, a, b;", "u32 u32 u32", 0, 0, 80},
    {"max.u32 d, a, b;", "u32 u32 u32", 0, 0, 80},
    {"mad.lo.u32 d, a, b, c;", "u32 u32 u32 u32", 0, 0, 80},
    {"sad.u32 d, a, b, c;", "u32 u32 u32 u32", 0, 0, 80},
    {"add.s64 d, a, b;", "s64 s64 s64", 0, 0, 80},
    {"sub.s64 d, a, b;", "s64 s64 s64", 0, 0, 80},
    {"mul.lo.s64 d, a, b;", "s64 s64 s64", 0, 0, 80},
    {"mul.hi.s64 d, a, b;", "s64 s64 s64", 0, 0, 80},
    {"div.s64 d, a, b;", "s64 s64 s64", 0, 0, 80},
    {"rem.s64 d, a, b;", "s64 s64 s64", 0, 0, 80},
    {"min.s64 d, a, b;", "s64 s64 s64", 0, 0, 80},
    {"max.s64 d, a, b;", "s64 s64 s64", 0, 0, 80},
    {"mad.lo.s64 d, a, b, c;", "s64 s64 s64 s64", 0, 0, 80},
    {"sad.s64 d, a, b, c;", "s64 s64 s64 s64", 0, 0, 80},
    {"add.u64 d, a, b;", "u64 u64 u64", 0, 0, 80},
    {"sub.u64 d, a, b;", "u64 u64 u64", 0, 0, 80},
    {"mul.lo.u64 d, a, b;", "u64 u64 u64", 0, 0, 80},
    {"mul.hi.u64 d, a, b;", "u64 u64 u64", 0, 0, 80},
    {"div.u64 d, a, b;", "u64 u64 u64", 0, 0, 80},
    {"rem.u64 d, a, b;", "u64 u64 u64", 0, 0, 80},
    {"min.u64 d, a, b;", "u64 u64 u64", 0, 0, 80},
    {"max.u64 d, a, b;", "u64 u64 u64", 0, 0, 80},
    {"mad.lo.u64 d, a, b, c;", "u64 u64 u64 u64", 0, 0, 80},
    {"sad.u64 d, a, b, c;", "u64 u64 u64 u64", 0, 0, 80},
    {"add.s16 d, a, b;", "s16 s16 s16", 0, 0, 80},
    {"sub.s16 d, a, b;", "s16 s16 s16", 0, 0, 80},
    {"mul.lo.s16 d, a, b;", "s16 s16 s16", 0, 0, 80},
    {"mul.hi.s16 d, a, b;", "s16 s16 s16", 0, 0, 80},
    {"div.s16 d, a, b;", "s16 s16 s16", 0, 0, 80},
    {"rem.s16 d, a, b;", "s16 s16 s16", 0, 0, 80},
    {"min.s16 d, a, b;", "s16 s16 s16", 0, 0, 80},
    {"max.s16 d, a, b;", "s16 s16 s16", 0, 0, 80},
    {"mad.lo.s16 d, a, b, c;", "s16 s16 s16 s16", 0, 0, 80},
    {"sad.s16 d, a, b, c;", "s16 s16 s16 s16", 0, 0, 80},
    {"add.u16 d, a, b;", "u16 u16 u16", 0, 0, 80},
    {"sub.u16 d, a, b;", "u16 u16 u16", 0, 0, 80},
    {"mul.lo.u16 d, a, b;", "u16 u16 u16", 0, 0, 80},
    {"mul.hi.u16 d, a, b;", "u16 u16 u16", 0, 0, 80},
    {"div.u16 d, a, b;", "u16 u16 u16", 0, 0, 80},
    {"rem.u16 d, a, b;", "u16 u16 u16", 0, 0, 80},
    {"min.u16 d, a, b;", "u16 u16 u16", 0, 0, 80},
    {"max.u16 d, a, b;", "u16 u16 u16", 0, 0, 80},
    {"mad.lo.u16 d, a, b, c;", "u16 u16 u16 u16", 0, 0, 80},
    {"sad.u16 d, a, b, c;", "u16 u16 u16 u16", 0, 0, 80},
    {"abs.s16 d, a;", "s16 s16", 0, 0, 80},
    {"neg.s16 d, a;", "s16 s16", 0, 0, 80},
    {"abs.s32 d, a;", "s32 s32", 0, 0, 80},
    {"neg.s32 d, a;", "s32 s32", 0, 0, 80},
    {"abs.s64 d, a;", "s64 s64", 0, 0, 80},
    {"neg.s64 d, a;", "s64 s64", 0, 0, 80},
    {"mul.wide.s16 d, a, b;", "s32 s16 s16", 0, 0, 80},
    {"mad.wide.s16 d, a, b, c;", "s32 s16 s16 s32", 0, 0, 80},
    {"mul.wide.u16 d, a, b;", "u32 u16 u16", 0, 0, 80},
    {"mad.wide.u16 d, a, b, c;", "u32 u16 u16 u32", 0, 0, 80},
    {"mul.wide.s32 d, a, b;", "s64 s32 s32", 0, 0, 80},
    {"mad.wide.s32 d, a, b, c;", "s64 s32 s32 s64", 0, 0, 80},
    {"mul.wide.u32 d, a, b;", "u64 u32 u32", 0, 0, 80},
    {"mad.wide.u32 d, a, b, c;", "u64 u32 u32 u64", 0, 0, 80},
    {"mad.hi.s32 d, a, b, c;", "s32 s32 s32 s32", 0, 0, 80},
    {"mad.hi.u32 d, a, b, c;", "u32 u32 u32 u32", 0, 0, 80},
    {"add.sat.s32 d, a, b;", "s32 s32 s32", 0, 0, 80},
    {"sub.sat.s32 d, a, b;", "s32 s32 s32", 0, 0, 80},
    {"mul24.lo.u32 d, a, b;", "u32 u32 u32", 0, 0, 80},
    {"add.cc.u32 t, a, b; addc.u32 d, c, 0;", "u32 u32 u32 u32", 0, 0, 80},
    {"sub.cc.u32 t, a, b; subc.u32 d, c, 0;", "u32 u32 u32 u32", 0, 0, 80},
    {"mad.lo.cc.u32 t, a, b, c; madc.hi.u32 d, a, b, 0;", "u32 u32 u32 u32", 0, 0, 80},
    {"and.b16 d, a, b;", "b16 b16 b16", 0, 0, 80},
    {"or.b16 d, a, b;", "b16 b16 b16", 0, 0, 80},
    {"xor.b16 d, a, b;", "b16 b16 b16", 0, 0, 80},
    {"not.b16 d, a;", "b16 b16", 0, 0, 80},
    {"cnot.b16 d, a;", "b16 b16", 0, 0, 80},
    {"shl.b16 d, a, b;", "b16 b16 shift", 0, 0, 80},
    {"and.b32 d, a, b;", "b32 b32 b32", 0, 0, 80},
    {"or.b32 d, a, b;", "b32 b32 b32", 0, 0, 80},
    {"xor.b32 d, a, b;", "b32 b32 b32", 0, 0, 80},
    {"not.b32 d, a;", "b32 b32", 0, 0, 80},
    {"cnot.b32 d, a;", "b32 b32", 0, 0, 80},
    {"shl.b32 d, a, b;", "b32 b32 shift", 0, 0, 80},
    {"and.b64 d, a, b;", "b64 b64 b64", 0, 0, 80},
    {"or.b64 d, a, b;", "b64 b64 b64", 0, 0, 80},
    {"xor.b64 d, a, b;", "b64 b64 b64", 0, 0, 80},
    {"not.b64 d, a;", "b64 b64", 0, 0, 80},
    {"cnot.b64 d, a;", "b64 b64", 0, 0, 80},
    {"shl.b64 d, a, b;", "b64 b64 shift", 0, 0, 80},
    {"shr.s32 d, a, b;", "s32 s32 shift", 0, 0, 80},
    {"shr.u32 d, a, b;", "u32 u32 shift", 0, 0, 80},
    {"shr.s64 d, a, b;", "s64 s64 shift", 0, 0, 80},
    {"shr.u64 d, a, b;", "u64 u64 shift", 0, 0, 80},
    {"shr.s16 d, a, b;", "s16 s16 shift", 0, 0, 80},
    {"shr.u16 d, a, b;", "u16 u16 shift", 0, 0, 80},
    {"shf.l.clamp.b32 d, a, b, c;", "b32 b32 b32 shift", 0, 0, 80},
    {"shf.l.wrap.b32 d, a, b, c;", "b32 b32 b32 shift", 0, 0, 80},
    {"shf.r.clamp.b32 d, a, b, c;", "b32 b32 b32 shift", 0, 0, 80},
    {"shf.r.wrap.b32 d, a, b, c;", "b32 b32 b32 shift", 0, 0, 80},
    {"prmt.b32 d, a, b, c;", "b32 b32 b32 b32", 0, 0, 80},
    {"prmt.b32.f4e d, a, b, c;", "b32 b32 b32 b32", 0, 0, 80},
    {"prmt.b32.b4e d, a, b, c;", "b32 b32 b32 b32", 0, 0, 80},
    {"prmt.b32.rc8 d, a, b, c;", "b32 b32 b32 b32", 0, 0, 80},
    {"prmt.b32.ecl d, a, b, c;", "b32 b32 b32 b32", 0, 0, 80},
    {"prmt.b32.ecr d, a, b, c;", "b32 b32 b32 b32", 0, 0, 80},
    {"prmt.b32.rc16 d, a, b, c;", "b32 b32 b32 b32", 0, 0, 80},
    {"lop3.b32 d, a, b, c, 0x96;", "b32 b32 b32 b32", 0, 0, 80},
    {"lop3.b32 d, a, b, c, 0xe8;", "b32 b32 b32 b32", 0, 0, 80},
    {"lop3.b32 d, a, b, c, 0x1b;", "b32 b32 b32 b32", 0, 0, 80},
    {"lop3.b32 d, a, b, c, 0xfe;", "b32 b32 b32 b32", 0, 0, 80},
    {"popc.b32 d, a;", "u32 b32", 0, 0, 80},
    {"clz.b32 d, a;", "u32 b32", 0, 0, 80},
    {"brev.b32 d, a;", "b32 b32", 0, 0, 80},
    {"bfi.b32 d, a, b, e, f;", "b32 b32 b32 shift", 0, 0, 80},
    {"popc.b64 d, a;", "u32 b64", 0, 0, 80},
    {"clz.b64 d, a;", "u32 b64", 0, 0, 80},
    {"brev.b64 d, a;", "b64 b64", 0, 0, 80},
    {"bfi.b64 d, a, b, e, f;", "b64 b64 b64 shift", 0, 0, 80},
    {"bfind.u32 d, a;", "u32 u32", 0, 0, 80},
    {"bfind.shiftamt.u32 d, a;", "u32 u32", 0, 0, 80},
    {"bfe.u32 d, a, e, f;", "u32 u32 u32 shift", 0, 0, 80},
    {"bfind.s32 d, a;", "u32 s32", 0, 0, 80},
    {"bfind.shiftamt.s32 d, a;", "u32 s32", 0, 0, 80},
    {"bfe.s32 d, a, e, f;", "s32 s32 s32 shift", 0, 0, 80},
    {"bfind.u64 d, a;", "u32 u64", 0, 0, 80},
    {"bfind.shiftamt.u64 d, a;", "u32 u64", 0, 0, 80},
    {"bfe.u64 d, a, e, f;", "u64 u64 u64 shift", 0, 0, 80},
    {"bfind.s64 d, a;", "u32 s64", 0, 0, 80},
    {"bfind.shiftamt.s64 d, a;", "u32 s64", 0, 0, 80},
    {"bfe.s64 d, a, e, f;", "s64 s64 s64 shift", 0, 0, 80},
    {"dp4a.u32.u32 d, a, b, c;", "s32 b32 b32 s32", 0, 0, 80},
    {"dp4a.u32.s32 d, a, b, c;", "s32 b32 b32 s32", 0, 0, 80},
    {"dp4a.s32.u32 d, a, b, c;", "s32 b32 b32 s32", 0, 0, 80},
    {"dp4a.s32.s32 d, a, b, c;", "s32 b32 b32 s32", 0, 0, 80},
    {"setp.eq.s32 p, a, b; selp.b32 d, 1, 0, p;", "u32 s32 s32", 0, 0, 80},
    {"setp.ne.s32 p, a, b; selp.b32 d, 1, 0, p;", "u32 s32 s32", 0, 0, 80},
    {"setp.lt.s32 p, a, b; selp.b32 d, 1, 0, p;", "u32 s32 s32", 0, 0, 80},
    {"setp.le.s32 p, a, b; selp.b32 d, 1, 0, p;", "u32 s32 s32", 0, 0, 80},
    {"setp.gt.s32 p, a, b; selp.b32 d, 1, 0, p;", "u32 s32 s32", 0, 0, 80},
    {"setp.ge.s32 p, a, b; selp.b32 d, 1, 0, p;", "u32 s32 s32", 0, 0, 80},
    {"setp.eq.u32 p, a, b; selp.b32 d, 1, 0, p;", "u32 u32 u32", 0, 0, 80},
    {"setp.ne.u32 p, a, b; selp.b32 d, 1, 0, p;", "u32 u32 u32", 0, 0, 80},
    {"setp.lt.u32 p, a, b; selp.b32 d, 1, 0, p;", "u32 u32 u32", 0, 0, 80},
    {"setp.le.u32 p, a, b; selp.b32 d, 1, 0, p;", "u32 u32 u32", 0, 0, 80},
    {"setp.gt.u32 p, a, b; selp.b32 d, 1, 0, p;", "u32 u32 u32", 0, 0, 80},
    {"setp.ge.u32 p, a, b; selp.b32 d, 1, 0, p;", "u32 u32 u32", 0, 0, 80},
    {"setp.eq.s64 p, a, b; selp.b32 d, 1, 0, p;", "u32 s64 s64", 0, 0, 80},
    {"setp.ne.s64 p, a, b; selp.b32 d, 1, 0, p;", "u32 s64 s64", 0, 0, 80},
    {"setp.lt.s64 p, a, b; selp.b32 d, 1, 0, p;", "u32 s64 s64", 0, 0, 80},
    {"setp.le.s64 p, a, b; selp.b32 d, 1, 0, p;", "u32 s64 s64", 0, 0, 80},
    {"setp.gt.s64 p, a, b; selp.b32 d, 1, 0, p;", "u32 s64 s64", 0, 0, 80},
    {"setp.ge.s64 p, a, b; selp.b32 d, 1, 0, p;", "u32 s64 s64", 0, 0, 80},
    {"setp.eq.u64 p, a, b; selp.b32 d, 1, 0, p;", "u32 u64 u64", 0, 0, 80},
    {"setp.ne.u64 p, a, b; selp.b32 d, 1, 0, p;", "u32 u64 u64", 0, 0, 80},
    {"setp.lt.u64 p, a, b; selp.b32 d, 1, 0, p;", "u32 u64 u64", 0, 0, 80},
    {"setp.le.u64 p, a, b; selp.b32 d, 1, 0, p;", "u32 u64 u64", 0, 0, 80},
    {"setp.gt.u64 p, a, b; selp.b32 d, 1, 0, p;", "u32 u64 u64", 0, 0, 80},
    {"setp.ge.u64 p, a, b; selp.b32 d, 1, 0, p;", "u32 u64 u64", 0, 0, 80},
    {"setp.eq.s16 p, a, b; selp.b32 d, 1, 0, p;", "u32 s16 s16", 0, 0, 80},
    {"setp.ne.s16 p, a, b; selp.b32 d, 1, 0, p;", "u32 s16 s16", 0, 0, 80},
    {"setp.lt.s16 p, a, b; selp.b32 d, 1, 0, p;", "u32 s16 s16", 0, 0, 80},
    {"setp.le.s16 p, a, b; selp.b32 d, 1, 0, p;", "u32 s16 s16", 0, 0, 80},
    {"setp.gt.s16 p, a, b; selp.b32 d, 1, 0, p;", "u32 s16 s16", 0, 0, 80},
    {"setp.ge.s16 p, a, b; selp.b32 d, 1, 0, p;", "u32 s16 s16", 0, 0, 80},
    {"setp.eq.u16 p, a, b; selp.b32 d, 1, 0, p;", "u32 u16 u16", 0, 0, 80},
    {"setp.ne.u16 p, a, b; selp.b32 d, 1, 0, p;", "u32 u16 u16", 0, 0, 80},
    {"setp.lt.u16 p, a, b; selp.b32 d, 1, 0, p;", "u32 u16 u16", 0, 0, 80},
    {"setp.le.u16 p, a, b; selp.b32 d, 1, 0, p;", "u32 u16 u16", 0, 0, 80},
    {"setp.gt.u16 p, a, b; selp.b32 d, 1, 0, p;", "u32 u16 u16", 0, 0, 80},
    {"setp.ge.u16 p, a, b; selp.b32 d, 1, 0, p;", "u32 u16 u16", 0, 0, 80},
    {"setp.lo.u32 p, a, b; selp.b32 d, 1, 0, p;", "u32 u32 u32", 0, 0, 80},
    {"setp.hs.u32 p, a, b; selp.b32 d, 1, 0, p;", "u32 u32 u32", 0, 0, 80},
    {"setp.eq.f32 p, a, b; selp.b32 d, 1, 0, p;", "u32 f32 f32", 0, 0, 80},
    {"setp.ne.f32 p, a, b; selp.b32 d, 1, 0, p;", "u32 f32 f32", 0, 0, 80},
    {"setp.lt.f32 p, a, b; selp.b32 d, 1, 0, p;", "u32 f32 f32", 0, 0, 80},
    {"setp.le.f32 p, a, b; selp.b32 d, 1, 0, p;", "u32 f32 f32", 0, 0, 80},
    {"setp.gt.f32 p, a, b; selp.b32 d, 1, 0, p;", "u32 f32 f32", 0, 0, 80},
    {"setp.ge.f32 p, a, b; selp.b32 d, 1, 0, p;", "u32 f32 f32", 0, 0, 80},
    {"setp.equ.f32 p, a, b; selp.b32 d, 1, 0, p;", "u32 f32 f32", 0, 0, 80},
    {"setp.neu.f32 p, a, b; selp.b32 d, 1, 0, p;", "u32 f32 f32", 0, 0, 80},
    {"setp.ltu.f32 p, a, b; selp.b32 d, 1, 0, p;", "u32 f32 f32", 0, 0, 80},
    {"setp.leu.f32 p, a, b; selp.b32 d, 1, 0, p;", "u32 f32 f32", 0, 0, 80},
    {"setp.gtu.f32 p, a, b; selp.b32 d, 1, 0, p;", "u32 f32 f32", 0, 0, 80},
    {"setp.geu.f32 p, a, b; selp.b32 d, 1, 0, p;", "u32 f32 f32", 0, 0, 80},
    {"setp.num.f32 p, a, b; selp.b32 d, 1, 0, p;", "u32 f32 f32", 0, 0, 80},
    {"setp.nan.f32 p, a, b; selp.b32 d, 1, 0, p;", "u32 f32 f32", 0, 0, 80},
    {"setp.eq.f64 p, a, b; selp.b32 d, 1, 0, p;", "u32 f64 f64", 0, 0, 80},
    {"setp.ne.f64 p, a, b; selp.b32 d, 1, 0, p;", "u32 f64 f64", 0, 0, 80},
    {"setp.lt.f64 p, a, b; selp.b32 d, 1, 0, p;", "u32 f64 f64", 0, 0, 80},
    {"setp.le.f64 p, a, b; selp.b32 d, 1, 0, p;", "u32 f64 f64", 0, 0, 80},
    {"setp.gt.f64 p, a, b; selp.b32 d, 1, 0, p;", "u32 f64 f64", 0, 0, 80},
    {"setp.ge.f64 p, a, b; selp.b32 d, 1, 0, p;", "u32 f64 f64", 0, 0, 80},
    {"setp.equ.f64 p, a, b; selp.b32 d, 1, 0, p;", "u32 f64 f64", 0, 0, 80},
    {"setp.neu.f64 p, a, b; selp.b32 d, 1, 0, p;", "u32 f64 f64", 0, 0, 80},
    {"setp.ltu.f64 p, a, b; selp.b32 d, 1, 0, p;", "u32 f64 f64", 0, 0, 80},
    {"setp.leu.f64 p, a, b; selp.b32 d, 1, 0, p;", "u32 f64 f64", 0, 0, 80},
    {"setp.gtu.f64 p, a, b; selp.b32 d, 1, 0, p;", "u32 f64 f64", 0, 0, 80},
    {"setp.geu.f64 p, a, b; selp.b32 d, 1, 0, p;", "u32 f64 f64", 0, 0, 80},
    {"setp.num.f64 p, a, b; selp.b32 d, 1, 0, p;", "u32 f64 f64", 0, 0, 80},
    {"setp.nan.f64 p, a, b; selp.b32 d, 1, 0, p;", "u32 f64 f64", 0, 0, 80},
    {"setp.lt.ftz.f32 p, a, b; selp.b32 d, 1, 0, p;", "u32 f32 f32", 0, 0, 80},
    {"setp.gt.f16 p, a, b; selp.b32 d, 1, 0, p;", "u32 f16 f16", 0, 0, 80},
    {"setp.lt.and.s32 p|q, a, b, r; selp.b32 d, 1, 0, p; selp.b32 t, 2, 0, q; or.b32 d, d, t;",
     "u32 s32 s32", 0, 0, 80},
    {"setp.lt.or.s32 p|q, a, b, !r; selp.b32 d, 1, 0, p; selp.b32 t, 2, 0, q; or.b32 d, d, t;",
     "u32 s32 s32", 0, 0, 80},
    {"setp.lt.xor.s32 p|q, a, b, r; selp.b32 d, 1, 0, p; selp.b32 t, 2, 0, q; or.b32 d, d, t;",
     "u32 s32 s32", 0, 0, 80},
    {"setp.lt.s32 p, a, b; and.pred q, p, r; xor.pred q, q, p; or.pred q, q, r; not.pred q, q; "
     "mov.pred p, q; selp.b32 d, 1, 0, p;",
     "u32 s32 s32", 0, 0, 80},
    {"set.lt.u32.s32 d, a, b;", "u32 s32 s32", 0, 0, 80},
    {"set.gt.f32.f32 d, a, b;", "b32 f32 f32", 0, 0, 80},
    {"set.le.u32.f32 d, a, b;", "u32 f32 f32", 0, 0, 80},
    {"slct.b32.s32 d, a, b, c;", "b32 b32 b32 s32", 0, 0, 80},
    {"slct.b64.f32 d, a, b, c;", "b64 b64 b64 f32", 0, 0, 80},
    {"add.rn.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"sub.rn.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"mul.rn.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"fma.rn.f32 d, a, b, c;", "f32 f32 f32 f32", 0, 0, 80},
    {"div.rn.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"add.rn.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"sub.rn.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"mul.rn.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"fma.rn.f64 d, a, b, c;", "f64 f64 f64 f64", 0, 0, 80},
    {"div.rn.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"add.rz.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"sub.rz.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"mul.rz.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"fma.rz.f32 d, a, b, c;", "f32 f32 f32 f32", 0, 0, 80},
    {"div.rz.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"add.rz.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"sub.rz.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"mul.rz.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"fma.rz.f64 d, a, b, c;", "f64 f64 f64 f64", 0, 0, 80},
    {"div.rz.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"add.rm.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"sub.rm.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"mul.rm.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"fma.rm.f32 d, a, b, c;", "f32 f32 f32 f32", 0, 0, 80},
    {"div.rm.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"add.rm.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"sub.rm.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"mul.rm.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"fma.rm.f64 d, a, b, c;", "f64 f64 f64 f64", 0, 0, 80},
    {"div.rm.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"add.rp.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"sub.rp.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"mul.rp.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"fma.rp.f32 d, a, b, c;", "f32 f32 f32 f32", 0, 0, 80},
    {"div.rp.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"add.rp.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"sub.rp.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"mul.rp.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"fma.rp.f64 d, a, b, c;", "f64 f64 f64 f64", 0, 0, 80},
    {"div.rp.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"add.ftz.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"add.sat.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"add.ftz.sat.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"sub.ftz.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"sub.sat.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"sub.ftz.sat.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"mul.ftz.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"mul.sat.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"mul.ftz.sat.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"fma.rn.ftz.f32 d, a, b, c;", "f32 f32 f32 f32", 0, 0, 80},
    {"fma.rn.sat.f32 d, a, b, c;", "f32 f32 f32 f32", 0, 0, 80},
    {"mad.rn.f32 d, a, b, c;", "f32 f32 f32 f32", 0, 0, 80},
    {"min.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"max.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"abs.f32 d, a;", "f32 f32", 0, 0, 80},
    {"neg.f32 d, a;", "f32 f32", 0, 0, 80},
    {"copysign.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"testp.finite.f32 p, a; selp.b32 d, 1, 0, p;", "u32 f32", 0, 0, 80},
    {"testp.infinite.f32 p, a; selp.b32 d, 1, 0, p;", "u32 f32", 0, 0, 80},
    {"testp.number.f32 p, a; selp.b32 d, 1, 0, p;", "u32 f32", 0, 0, 80},
    {"testp.notanumber.f32 p, a; selp.b32 d, 1, 0, p;", "u32 f32", 0, 0, 80},
    {"testp.normal.f32 p, a; selp.b32 d, 1, 0, p;", "u32 f32", 0, 0, 80},
    {"testp.subnormal.f32 p, a; selp.b32 d, 1, 0, p;", "u32 f32", 0, 0, 80},
    {"min.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"max.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"abs.f64 d, a;", "f64 f64", 0, 0, 80},
    {"neg.f64 d, a;", "f64 f64", 0, 0, 80},
    {"copysign.f64 d, a, b;", "f64 f64 f64", 0, 0, 80},
    {"testp.finite.f64 p, a; selp.b32 d, 1, 0, p;", "u32 f64", 0, 0, 80},
    {"testp.infinite.f64 p, a; selp.b32 d, 1, 0, p;", "u32 f64", 0, 0, 80},
    {"testp.number.f64 p, a; selp.b32 d, 1, 0, p;", "u32 f64", 0, 0, 80},
    {"testp.notanumber.f64 p, a; selp.b32 d, 1, 0, p;", "u32 f64", 0, 0, 80},
    {"testp.normal.f64 p, a; selp.b32 d, 1, 0, p;", "u32 f64", 0, 0, 80},
    {"testp.subnormal.f64 p, a; selp.b32 d, 1, 0, p;", "u32 f64", 0, 0, 80},
    {"min.NaN.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"min.ftz.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"max.NaN.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"max.ftz.f32 d, a, b;", "f32 f32 f32", 0, 0, 80},
    {"abs.ftz.f32 d, a;", "f32 f32", 0, 0, 80},
    {"neg.ftz.f32 d, a;", "f32 f32", 0, 0, 80},
    {"rcp.rn.f32 d, a;", "f32 f32", 0, 0, 80},
    {"sqrt.rn.f32 d, a;", "f32 f32", 0, 0, 80},
    {"sqrt.rn.f64 d, a;", "f64 f64", 0, 0, 80},
    {"rcp.rn.f64 d, a;", "f64 f64", 0, 0, 80},
    {"div.full.f32 d, a, b;", "f32 f32small f32small", 2, 0, 80},
    {"div.approx.f32 d, a, b;", "f32 f32small f32small", 1, 0, 80},
    {"rcp.approx.f32 d, a;", "f32 f32small", 1, 0, 80},
    {"sqrt.approx.f32 d, a;", "f32 f32positive", 1, 0, 80},
    {"rsqrt.approx.f32 d, a;", "f32 f32positive", 1, 0, 80},
    {"ex2.approx.f32 d, a;", "f32 f32small", 2, 0, 80},
    {"lg2.approx.f32 d, a;", "f32 f32positive", 0, 0x1p-21, 80},
    {"sin.approx.f32 d, a;", "f32 f32unit", 0, 0x1.4p-22, 80},
    {"cos.approx.f32 d, a;", "f32 f32unit", 0, 0x1p-22, 80},
    {"tanh.approx.f32 d, a;", "f32 f32unit", 0, 0x1.ap-18, 80},
    {"fma.rn.f16 d, a, b, c;", "f16 f16 f16 f16", 0, 0, 80},
    {"min.f16 d, a, b;", "f16 f16 f16", 0, 0, 80},
    {"max.f16 d, a, b;", "f16 f16 f16", 0, 0, 80},
    {"neg.f16 d, a;", "f16 f16", 0, 0, 80},
    {"abs.f16 d, a;", "f16 f16", 0, 0, 80},
    {"fma.rn.relu.f16 d, a, b, c;", "f16 f16 f16 f16", 0, 0, 80},
    {"max.NaN.f16 d, a, b;", "f16 f16 f16", 0, 0, 80},
    {"fma.rn.bf16 d, a, b, c;", "bf16 bf16 bf16 bf16", 0, 0, 80},
    {"min.bf16 d, a, b;", "bf16 bf16 bf16", 0, 0, 80},
    {"max.bf16 d, a, b;", "bf16 bf16 bf16", 0, 0, 80},
    {"neg.bf16 d, a;", "bf16 bf16", 0, 0, 80},
    {"abs.bf16 d, a;", "bf16 bf16", 0, 0, 80},
    {"fma.rn.relu.bf16 d, a, b, c;", "bf16 bf16 bf16 bf16", 0, 0, 80},
    {"max.NaN.bf16 d, a, b;", "bf16 bf16 bf16", 0, 0, 80},
    {"fma.rn.f16x2 d, a, b, c;", "f16x2 f16x2 f16x2 f16x2", 0, 0, 80},
    {"min.f16x2 d, a, b;", "f16x2 f16x2 f16x2", 0, 0, 80},
    {"max.f16x2 d, a, b;", "f16x2 f16x2 f16x2", 0, 0, 80},
    {"neg.f16x2 d, a;", "f16x2 f16x2", 0, 0, 80},
    {"abs.f16x2 d, a;", "f16x2 f16x2", 0, 0, 80},
    {"fma.rn.relu.f16x2 d, a, b, c;", "f16x2 f16x2 f16x2 f16x2", 0, 0, 80},
    {"max.NaN.f16x2 d, a, b;", "f16x2 f16x2 f16x2", 0, 0, 80},
    {"fma.rn.bf16x2 d, a, b, c;", "bf16x2 bf16x2 bf16x2 bf16x2", 0, 0, 80},
    {"min.bf16x2 d, a, b;", "bf16x2 bf16x2 bf16x2", 0, 0, 80},
    {"max.bf16x2 d, a, b;", "bf16x2 bf16x2 bf16x2", 0, 0, 80},
    {"neg.bf16x2 d, a;", "bf16x2 bf16x2", 0, 0, 80},
    {"abs.bf16x2 d, a;", "bf16x2 bf16x2", 0, 0, 80},
    {"fma.rn.relu.bf16x2 d, a, b, c;", "bf16x2 bf16x2 bf16x2 bf16x2", 0, 0, 80},
    {"max.NaN.bf16x2 d, a, b;", "bf16x2 bf16x2 bf16x2", 0, 0, 80},
    {"add.f16 d, a, b;", "f16 f16 f16", 0, 0, 80},
    {"add.ftz.f16 d, a, b;", "f16 f16 f16", 0, 0, 80},
    {"add.sat.f16 d, a, b;", "f16 f16 f16", 0, 0, 80},
    {"sub.f16 d, a, b;", "f16 f16 f16", 0, 0, 80},
    {"sub.ftz.f16 d, a, b;", "f16 f16 f16", 0, 0, 80},
    {"sub.sat.f16 d, a, b;", "f16 f16 f16", 0, 0, 80},
    {"mul.f16 d, a, b;", "f16 f16 f16", 0, 0, 80},
    {"mul.ftz.f16 d, a, b;", "f16 f16 f16", 0, 0, 80},
    {"mul.sat.f16 d, a, b;", "f16 f16 f16", 0, 0, 80},
    {"add.f16x2 d, a, b;", "f16x2 f16x2 f16x2", 0, 0, 80},
    {"add.ftz.f16x2 d, a, b;", "f16x2 f16x2 f16x2", 0, 0, 80},
    {"add.sat.f16x2 d, a, b;", "f16x2 f16x2 f16x2", 0, 0, 80},
    {"sub.f16x2 d, a, b;", "f16x2 f16x2 f16x2", 0, 0, 80},
    {"sub.ftz.f16x2 d, a, b;", "f16x2 f16x2 f16x2", 0, 0, 80},
    {"sub.sat.f16x2 d, a, b;", "f16x2 f16x2 f16x2", 0, 0, 80},
    {"mul.f16x2 d, a, b;", "f16x2 f16x2 f16x2", 0, 0, 80},
    {"mul.ftz.f16x2 d, a, b;", "f16x2 f16x2 f16x2", 0, 0, 80},
    {"mul.sat.f16x2 d, a, b;", "f16x2 f16x2 f16x2", 0, 0, 80},
    {"add.bf16 d, a, b;", "bf16 bf16 bf16", 0, 0, 90},
    {"sub.bf16 d, a, b;", "bf16 bf16 bf16", 0, 0, 90},
    {"mul.bf16 d, a, b;", "bf16 bf16 bf16", 0, 0, 90},
    {"add.bf16x2 d, a, b;", "bf16x2 bf16x2 bf16x2", 0, 0, 90},
    {"sub.bf16x2 d, a, b;", "bf16x2 bf16x2 bf16x2", 0, 0, 90},
    {"mul.bf16x2 d, a, b;", "bf16x2 bf16x2 bf16x2", 0, 0, 90},
    {"cvt.s8.s32 d, a;", "s8 s32", 0, 0, 80},
    {"cvt.s8.u32 d, a;", "s8 u32", 0, 0, 80},
    {"cvt.u8.s32 d, a;", "u8 s32", 0, 0, 80},
    {"cvt.u8.u32 d, a;", "u8 u32", 0, 0, 80},
    {"cvt.s16.s32 d, a;", "s16 s32", 0, 0, 80},
    {"cvt.s16.u32 d, a;", "s16 u32", 0, 0, 80},
    {"cvt.u16.s32 d, a;", "u16 s32", 0, 0, 80},
    {"cvt.u16.u32 d, a;", "u16 u32", 0, 0, 80},
    {"cvt.s32.s8 d, a;", "s32 s8", 0, 0, 80},
    {"cvt.s32.u8 d, a;", "s32 u8", 0, 0, 80},
    {"cvt.s32.s16 d, a;", "s32 s16", 0, 0, 80},
    {"cvt.s32.u16 d, a;", "s32 u16", 0, 0, 80},
    {"cvt.s32.u32 d, a;", "s32 u32", 0, 0, 80},
    {"cvt.s32.s64 d, a;", "s32 s64", 0, 0, 80},
    {"cvt.s32.u64 d, a;", "s32 u64", 0, 0, 80},
    {"cvt.u32.s8 d, a;", "u32 s8", 0, 0, 80},
    {"cvt.u32.u8 d, a;", "u32 u8", 0, 0, 80},
    {"cvt.u32.s16 d, a;", "u32 s16", 0, 0, 80},
    {"cvt.u32.u16 d, a;", "u32 u16", 0, 0, 80},
    {"cvt.u32.s32 d, a;", "u32 s32", 0, 0, 80},
    {"cvt.u32.s64 d, a;", "u32 s64", 0, 0, 80},
    {"cvt.u32.u64 d, a;", "u32 u64", 0, 0, 80},
    {"cvt.s64.s8 d, a;", "s64 s8", 0, 0, 80},
    {"cvt.s64.u8 d, a;", "s64 u8", 0, 0, 80},
    {"cvt.s64.s16 d, a;", "s64 s16", 0, 0, 80},
    {"cvt.s64.u16 d, a;", "s64 u16", 0, 0, 80},
    {"cvt.s64.s32 d, a;", "s64 s32", 0, 0, 80},
    {"cvt.s64.u32 d, a;", "s64 u32", 0, 0, 80},
    {"cvt.s64.u64 d, a;", "s64 u64", 0, 0, 80},
    {"cvt.u64.s8 d, a;", "u64 s8", 0, 0, 80},
    {"cvt.u64.u8 d, a;", "u64 u8", 0, 0, 80},
    {"cvt.u64.s16 d, a;", "u64 s16", 0, 0, 80},
    {"cvt.u64.u16 d, a;", "u64 u16", 0, 0, 80},
    {"cvt.u64.s32 d, a;", "u64 s32", 0, 0, 80},
    {"cvt.u64.u32 d, a;", "u64 u32", 0, 0, 80},
    {"cvt.u64.s64 d, a;", "u64 s64", 0, 0, 80},
    {"cvt.sat.s8.s64 d, a;", "s8 s64", 0, 0, 80},
    {"cvt.sat.u8.s64 d, a;", "u8 s64", 0, 0, 80},
    {"cvt.sat.s16.s64 d, a;", "s16 s64", 0, 0, 80},
    {"cvt.sat.u16.s64 d, a;", "u16 s64", 0, 0, 80},
    {"cvt.sat.s32.s64 d, a;", "s32 s64", 0, 0, 80},
    {"cvt.sat.u32.s64 d, a;", "u32 s64", 0, 0, 80},
    {"cvt.rni.s32.f32 d, a;", "s32 f32", 0, 0, 80},
    {"cvt.rzi.s32.f32 d, a;", "s32 f32", 0, 0, 80},
    {"cvt.rmi.s32.f32 d, a;", "s32 f32", 0, 0, 80},
    {"cvt.rpi.s32.f32 d, a;", "s32 f32", 0, 0, 80},
    {"cvt.rzi.s32.f64 d, a;", "s32 f64", 0, 0, 80},
    {"cvt.rn.f32.s32 d, a;", "f32 s32", 0, 0, 80},
    {"cvt.rn.f64.s32 d, a;", "f64 s32", 0, 0, 80},
    {"cvt.rn.f16.s32 d, a;", "f16 s32", 0, 0, 80},
    {"cvt.rni.u32.f32 d, a;", "u32 f32", 0, 0, 80},
    {"cvt.rzi.u32.f32 d, a;", "u32 f32", 0, 0, 80},
    {"cvt.rmi.u32.f32 d, a;", "u32 f32", 0, 0, 80},
    {"cvt.rpi.u32.f32 d, a;", "u32 f32", 0, 0, 80},
    {"cvt.rzi.u32.f64 d, a;", "u32 f64", 0, 0, 80},
    {"cvt.rn.f32.u32 d, a;", "f32 u32", 0, 0, 80},
    {"cvt.rn.f64.u32 d, a;", "f64 u32", 0, 0, 80},
    {"cvt.rn.f16.u32 d, a;", "f16 u32", 0, 0, 80},
    {"cvt.rni.s64.f32 d, a;", "s64 f32", 0, 0, 80},
    {"cvt.rzi.s64.f32 d, a;", "s64 f32", 0, 0, 80},
    {"cvt.rmi.s64.f32 d, a;", "s64 f32", 0, 0, 80},
    {"cvt.rpi.s64.f32 d, a;", "s64 f32", 0, 0, 80},
    {"cvt.rzi.s64.f64 d, a;", "s64 f64", 0, 0, 80},
    {"cvt.rn.f32.s64 d, a;", "f32 s64", 0, 0, 80},
    {"cvt.rn.f64.s64 d, a;", "f64 s64", 0, 0, 80},
    {"cvt.rn.f16.s64 d, a;", "f16 s64", 0, 0, 80},
    {"cvt.rni.u64.f32 d, a;", "u64 f32", 0, 0, 80},
    {"cvt.rzi.u64.f32 d, a;", "u64 f32", 0, 0, 80},
    {"cvt.rmi.u64.f32 d, a;", "u64 f32", 0, 0, 80},
    {"cvt.rpi.u64.f32 d, a;", "u64 f32", 0, 0, 80},
    {"cvt.rzi.u64.f64 d, a;", "u64 f64", 0, 0, 80},
    {"cvt.rn.f32.u64 d, a;", "f32 u64", 0, 0, 80},
    {"cvt.rn.f64.u64 d, a;", "f64 u64", 0, 0, 80},
    {"cvt.rn.f16.u64 d, a;", "f16 u64", 0, 0, 80},
    {"cvt.rni.s16.f32 d, a;", "s16 f32", 0, 0, 80},
    {"cvt.rzi.s16.f32 d, a;", "s16 f32", 0, 0, 80},
    {"cvt.rmi.s16.f32 d, a;", "s16 f32", 0, 0, 80},
    {"cvt.rpi.s16.f32 d, a;", "s16 f32", 0, 0, 80},
    {"cvt.rzi.s16.f64 d, a;", "s16 f64", 0, 0, 80},
    {"cvt.rn.f32.s16 d, a;", "f32 s16", 0, 0, 80},
    {"cvt.rn.f64.s16 d, a;", "f64 s16", 0, 0, 80},
    {"cvt.rn.f16.s16 d, a;", "f16 s16", 0, 0, 80},
    {"cvt.rni.u16.f32 d, a;", "u16 f32", 0, 0, 80},
    {"cvt.rzi.u16.f32 d, a;", "u16 f32", 0, 0, 80},
    {"cvt.rmi.u16.f32 d, a;", "u16 f32", 0, 0, 80},
    {"cvt.rpi.u16.f32 d, a;", "u16 f32", 0, 0, 80},
    {"cvt.rzi.u16.f64 d, a;", "u16 f64", 0, 0, 80},
    {"cvt.rn.f32.u16 d, a;", "f32 u16", 0, 0, 80},
    {"cvt.rn.f64.u16 d, a;", "f64 u16", 0, 0, 80},
    {"cvt.rn.f16.u16 d, a;", "f16 u16", 0, 0, 80},
    {"cvt.rni.s8.f32 d, a;", "s8 f32", 0, 0, 80},
    {"cvt.rzi.s8.f32 d, a;", "s8 f32", 0, 0, 80},
    {"cvt.rmi.s8.f32 d, a;", "s8 f32", 0, 0, 80},
    {"cvt.rpi.s8.f32 d, a;", "s8 f32", 0, 0, 80},
    {"cvt.rzi.s8.f64 d, a;", "s8 f64", 0, 0, 80},
    {"cvt.rn.f32.s8 d, a;", "f32 s8", 0, 0, 80},
    {"cvt.rn.f64.s8 d, a;", "f64 s8", 0, 0, 80},
    {"cvt.rn.f16.s8 d, a;", "f16 s8", 0, 0, 80},
    {"cvt.rni.u8.f32 d, a;", "u8 f32", 0, 0, 80},
    {"cvt.rzi.u8.f32 d, a;", "u8 f32", 0, 0, 80},
    {"cvt.rmi.u8.f32 d, a;", "u8 f32", 0, 0, 80},
    {"cvt.rpi.u8.f32 d, a;", "u8 f32", 0, 0, 80},
    {"cvt.rzi.u8.f64 d, a;", "u8 f64", 0, 0, 80},
    {"cvt.rn.f32.u8 d, a;", "f32 u8", 0, 0, 80},
    {"cvt.rn.f64.u8 d, a;", "f64 u8", 0, 0, 80},
    {"cvt.rn.f16.u8 d, a;", "f16 u8", 0, 0, 80},
    {"cvt.rz.f32.s64 d, a;", "f32 s64", 0, 0, 80},
    {"cvt.rp.f32.u64 d, a;", "f32 u64", 0, 0, 80},
    {"cvt.rm.f32.s32 d, a;", "f32 s32", 0, 0, 80},
    {"cvt.rz.f64.u64 d, a;", "f64 u64", 0, 0, 80},
    {"cvt.rn.f32.f64 d, a;", "f32 f64", 0, 0, 80},
    {"cvt.rz.f32.f64 d, a;", "f32 f64", 0, 0, 80},
    {"cvt.rm.f32.f64 d, a;", "f32 f64", 0, 0, 80},
    {"cvt.rp.f32.f64 d, a;", "f32 f64", 0, 0, 80},
    {"cvt.rn.f16.f32 d, a;", "f16 f32", 0, 0, 80},
    {"cvt.rn.bf16.f32 d, a;", "bf16 f32", 0, 0, 80},
    {"cvt.rn.f16x2.f32 d, a, b;", "b32 f32 f32", 0, 0, 80},
    {"cvt.rn.bf16x2.f32 d, a, b;", "b32 f32 f32", 0, 0, 80},
    {"cvt.rz.f16.f32 d, a;", "f16 f32", 0, 0, 80},
    {"cvt.rz.bf16.f32 d, a;", "bf16 f32", 0, 0, 80},
    {"cvt.rz.f16x2.f32 d, a, b;", "b32 f32 f32", 0, 0, 80},
    {"cvt.rz.bf16x2.f32 d, a, b;", "b32 f32 f32", 0, 0, 80},
    {"cvt.rn.relu.f16x2.f32 d, a, b;", "b32 f32 f32", 0, 0, 80},
    {"cvt.rn.relu.bf16x2.f32 d, a, b;", "b32 f32 f32", 0, 0, 80},
    {"cvt.f32.f16 d, a;", "f32 f16", 0, 0, 80},
    {"cvt.f32.bf16 d, a;", "f32 bf16", 0, 0, 90},
    {"cvt.f64.f32 d, a;", "f64 f32", 0, 0, 80},
    {"cvt.f64.f16 d, a;", "f64 f16", 0, 0, 80},
    {"cvt.rn.f16.f64 d, a;", "f16 f64", 0, 0, 80},
    {"cvt.rni.f32.f32 d, a;", "f32 f32", 0, 0, 80},
    {"cvt.rni.f16.f16 d, a;", "f16 f16", 0, 0, 80},
    {"cvt.rni.f64.f64 d, a;", "f64 f64", 0, 0, 80},
    {"cvt.rzi.f32.f32 d, a;", "f32 f32", 0, 0, 80},
    {"cvt.rzi.f16.f16 d, a;", "f16 f16", 0, 0, 80},
    {"cvt.rzi.f64.f64 d, a;", "f64 f64", 0, 0, 80},
    {"cvt.rmi.f32.f32 d, a;", "f32 f32", 0, 0, 80},
    {"cvt.rmi.f16.f16 d, a;", "f16 f16", 0, 0, 80},
    {"cvt.rmi.f64.f64 d, a;", "f64 f64", 0, 0, 80},
    {"cvt.rpi.f32.f32 d, a;", "f32 f32", 0, 0, 80},
    {"cvt.rpi.f16.f16 d, a;", "f16 f16", 0, 0, 80},
    {"cvt.rpi.f64.f64 d, a;", "f64 f64", 0, 0, 80},
    {"cvt.sat.f32.f32 d, a;", "f32 f32", 0, 0, 80},
    {"cvt.ftz.f32.f32 d, a;", "f32 f32", 0, 0, 80},
    {"cvt.rzi.s32.f16 d, a;", "s32 f16", 0, 0, 80},
    {"cvt.rna.tf32.f32 d, a;", "b32 f32", 0, 0, 80},
    {"cvt.rn.tf32.f32 d, a;", "b32 f32", 0, 0, 90},
    {"cvt.rz.tf32.f32 d, a;", "b32 f32", 0, 0, 90},
    {"ex2.approx.f16 d, a;", "f16 f16unit", 0, 0, 80},
    {"tanh.approx.f16 d, a;", "f16 f16unit", 0, 0, 80},
    {"mov.b64 d, {a, b};", "b64 b32 b32", 0, 0, 80},
    {"mov.b64 {t, u}, a; xor.b32 d, t, u;", "b32 b64", 0, 0, 80},
    {"mov.b32 d, {a, b};", "b32 b16 b16", 0, 0, 80},
    {"isspacep.global p, in; selp.b64 d, a, b, p;", "b64 b64 b64", 0, 0, 80},
};

const std::vector<uint64_t>& edge_values(const std::string& type) {
  static const std::vector<uint64_t> integers = {0,
                                                 1,
                                                 2,
                                                 31,
                                                 32,
                                                 33,
                                                 0x7F,
                                                 0x80,
                                                 0xFF,
                                                 0x7FFF,
                                                 0x8000,
                                                 0xFFFF,
                                                 0x7FFFFFFF,
                                                 0x80000000,
                                                 0xFFFFFFFF,
                                                 0x7FFFFFFFFFFFFFFF,
                                                 0x8000000000000000,
                                                 0xFFFFFFFFFFFFFFFF};
  static const std::vector<uint64_t> singles = {0x00000000, 0x80000000, 0x3F800000, 0xBF800000,
                                                0x7F800000, 0xFF800000, 0x7FC00000, 0x00000001,
                                                0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0x3F000000,
                                                0x40200000, 0xC0600000, 0x4F000000, 0xCF000000};
  static const std::vector<uint64_t> doubles = {0,
                                                0x8000000000000000,
                                                0x3FF0000000000000,
                                                0xBFF8000000000000,
                                                0x7FF0000000000000,
                                                0xFFF0000000000000,
                                                0x7FF8000000000000,
                                                1,
                                                0x7FEFFFFFFFFFFFFF,
                                                0x41DFFFFFFFC00000,
                                                0xC1E0000000000000,
                                                0x36A0000000000000,
                                                0x3E70000000000000};
  static const std::vector<uint64_t> halves = {0x0000, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00,
                                               0x7E00, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0x3800,
                                               0x4100, 0x7F80, 0x3F80, 0x7F7F, 0x0080};
  static const std::vector<uint64_t> none;
  if (type == "f32") return singles;
  if (type == "f64") return doubles;
  if (type == "f16" || type == "bf16") return halves;
  if (type[0] == 's' || type[0] == 'u' || type == "b16" || type == "b32" || type == "b64") {
    return integers;
  }
  return none;
}

float unit_interval(uint64_t bits) {  // [0, 1), exact
  return static_cast<float>(bits >> 40) * 0x1p-24F;
}

uint64_t random_value(const std::string& type, uint64_t bits) {
  if (type == "shift") return bits % 70;
  if (type == "f32small") {
    return std::bit_cast<uint32_t>(unit_interval(bits) * 16 - 8 + 0.001F);
  }
  if (type == "f32unit") return std::bit_cast<uint32_t>(unit_interval(bits) * 2 - 1);
  if (type == "f32positive") return std::bit_cast<uint32_t>(unit_interval(bits) * 100 + 0.01F);
  if (type == "f16unit") return bits & 0xBBFF;  // below 1
  // Half of the floats near one another, so that sums cancel and products stay in range.
  if (type == "f32" && (bits >> 60 & 1) != 0) {
    return std::bit_cast<uint32_t>(unit_interval(bits) * 4 - 2);
  }
  if (type == "f64" && (bits >> 60 & 1) != 0) {
    return std::bit_cast<uint64_t>(static_cast<double>(unit_interval(bits)) * 4 - 2);
  }
  return bits;
}

// Edge values meet each other in the first threads, the rest is random.
uint64_t input_value(const std::string& type, size_t operand, size_t thread, uint64_t seed) {
  const std::vector<uint64_t>& edges = edge_values(type);
  if (!edges.empty() && thread < 192) {
    const size_t index = operand == 0 ? thread : operand == 1 ? thread / edges.size() : thread * 7;
    return edges[index % edges.size()];
  }
  return random_value(type, mix(seed, thread * 4 + operand));
}

std::string register_type(const std::string& type) {
  if (type.starts_with("f32")) return "f32";
  if (type == "f64") return "f64";
  if (type == "b64" || type == "s64" || type == "u64") return "b64";
  if (type == "b16" || type == "s16" || type == "u16" || type == "s8" || type == "u8" ||
      type.starts_with("f16") || type.starts_with("bf16")) {
    return type.ends_with("x2") ? "b32" : "b16";
  }
  return "b32";
}

std::string name_of(const char* text) {
  std::string out;
  for (const char* c = text; *c != '\0' && *c != ' '; ++c) out += *c;
  const std::string rest(text + out.size());
  const size_t second = rest.find("; ");
  if (second != std::string::npos) {
    uint64_t hash = 0;
    for (const char c : rest) hash = mix(hash, static_cast<unsigned char>(c));
    out += fmt::format("_{:04x}", hash & 0xFFFF);
  } else if (rest.find("0x") != std::string::npos) {
    out += "_" + rest.substr(rest.find("0x"), 4);
  }
  return out;
}

std::vector<std::string> split(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> out;
  std::string word;
  while (stream >> word) out.push_back(word);
  return out;
}

Case make_case(const Row& row) {
  Case test;
  test.name = name_of(row.text);
  test.arch = row.arch;
  test.block = kThreads;
  test.tolerance = {row.ulps, row.absolute};
  const std::vector<std::string> types = split(row.types);
  const std::string result_type = register_type(types[0]);
  const size_t result_bytes = std::stoul(result_type.substr(1)) / 8;
  test.output_bytes = kThreads * result_bytes;
  std::string body = "  .reg .pred p, q, r;\n  .reg .b32 e, f, t, u, odd;\n  .reg .b64 at;\n";
  for (size_t i = 0; i < types.size(); ++i) {
    body += fmt::format("  .reg .{} {};\n", register_type(types[i]), "dabc"[i]);
  }
  body += "  and.b32 odd, tid, 1;\n  setp.eq.u32 r, odd, 1;\n";
  body += "  mad.wide.u32 at, tid, 24, in;\n";
  for (size_t i = 1; i < types.size(); ++i) {
    body += fmt::format("  ld.global.{} {}, [at+{}];\n", register_type(types[i]), "dabc"[i],
                        (i - 1) * kSlotBytes);
  }
  body += "  ld.global.b32 e, [at+16];\n  and.b32 f, e, 15;\n  shr.u32 e, e, 1;\n";
  body += fmt::format("  {}\n", row.text);
  body += fmt::format("  mad.wide.u32 at, tid, {}, out;\n", result_bytes);
  body += fmt::format("  st.global.{} [at], d;\n", result_type);
  test.ptx = module_around(body, row.arch);
  test.input.resize(size_t{kThreads} * 3 * kSlotBytes);
  uint64_t seed = 0;
  for (const char c : test.name) seed = mix(seed, static_cast<unsigned char>(c));
  for (size_t thread = 0; thread < kThreads; ++thread) {
    for (size_t operand = 0; operand < 3; ++operand) {
      const bool given = operand + 1 < types.size();
      const uint64_t value =
          input_value(given ? types[operand + 1] : "shift", operand, thread, seed);
      std::memcpy(&test.input[(thread * 3 + operand) * kSlotBytes], &value, sizeof value);
    }
  }
  if (types[0] == "f32") test.element = Element::f32;
  if (types[0] == "f64") test.element = Element::f64;
  return test;
}

}  // namespace

std::vector<Case> elementwise_cases() {
  std::vector<Case> out;
  for (const Row& row : kRows) out.push_back(make_case(row));
  return out;
}

}  // namespace gemmtune::ptxsim::hardware
