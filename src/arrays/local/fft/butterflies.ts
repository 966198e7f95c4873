import type { Split } from '../../kernels/native-transforms.ts'

/**
 * One pass of a transform of mixed radix: `groups` times `stride` transforms of `radix` elements. A pass reads element
 * (i, j, k) at `i + stride * (j + radix * k)` and writes it at `i + stride * (k + groups * j)`. So everything is in its
 * natural order after the last pass: the self-sorting form of Stockham. See C. Temperton, "Self-sorting mixed-radix
 * fast Fourier transforms", J. Comput. Phys. 52, 1983.
 */
export interface Pass {
  readonly radix: number
  readonly groups: number
  readonly stride: number
  /** The factors of outputs j = 1, 2, … of position i, at i + stride * (j - 1). */
  readonly re: Float64Array
  readonly im: Float64Array
}

export type Butterfly = (pass: Pass, from: Split, to: Split) => void

export function butterfly2({ groups, stride, re: wr, im: wi }: Pass, from: Split, to: Split): void {
  const { re: fr, im: fi } = from
  const { re: tr, im: ti } = to
  const far = stride * groups
  for (let k = 0; k < groups; k += 1)
    for (let i = 0; i < stride; i += 1) {
      const a = i + stride * 2 * k
      const b = a + stride
      const out = i + stride * k
      const dr = fr[a]! - fr[b]!
      const di = fi[a]! - fi[b]!
      tr[out] = fr[a]! + fr[b]!
      ti[out] = fi[a]! + fi[b]!
      tr[out + far] = dr * wr[i]! - di * wi[i]!
      ti[out + far] = dr * wi[i]! + di * wr[i]!
    }
}

const SIN_60 = Math.sqrt(3) / 2

export function butterfly3({ groups, stride, re: wr, im: wi }: Pass, from: Split, to: Split): void {
  const { re: fr, im: fi } = from
  const { re: tr, im: ti } = to
  const far = stride * groups
  for (let k = 0; k < groups; k += 1)
    for (let i = 0; i < stride; i += 1) {
      const a = i + stride * 3 * k
      const b = a + stride
      const c = b + stride
      const out = i + stride * k
      const sr = fr[b]! + fr[c]!
      const si = fi[b]! + fi[c]!
      const mr = fr[a]! - sr / 2
      const mi = fi[a]! - si / 2
      const dr = SIN_60 * (fi[b]! - fi[c]!)
      const di = SIN_60 * (fr[c]! - fr[b]!)
      tr[out] = fr[a]! + sr
      ti[out] = fi[a]! + si
      const pr = mr + dr
      const pi = mi + di
      const qr = mr - dr
      const qi = mi - di
      const ur = wr[i]!
      const ui = wi[i]!
      const vr = wr[i + stride]!
      const vi = wi[i + stride]!
      tr[out + far] = pr * ur - pi * ui
      ti[out + far] = pr * ui + pi * ur
      tr[out + 2 * far] = qr * vr - qi * vi
      ti[out + 2 * far] = qr * vi + qi * vr
    }
}

export function butterfly4({ groups, stride, re: wr, im: wi }: Pass, from: Split, to: Split): void {
  const { re: fr, im: fi } = from
  const { re: tr, im: ti } = to
  const far = stride * groups
  for (let k = 0; k < groups; k += 1)
    for (let i = 0; i < stride; i += 1) {
      const a = i + stride * 4 * k
      const b = a + stride
      const c = b + stride
      const d = c + stride
      const out = i + stride * k
      const er = fr[a]! + fr[c]!
      const ei = fi[a]! + fi[c]!
      const gr = fr[a]! - fr[c]!
      const gi = fi[a]! - fi[c]!
      const or = fr[b]! + fr[d]!
      const oi = fi[b]! + fi[d]!
      // -i (b - d)
      const hr = fi[b]! - fi[d]!
      const hi = fr[d]! - fr[b]!
      tr[out] = er + or
      ti[out] = ei + oi
      const pr = gr + hr
      const pi = gi + hi
      const qr = er - or
      const qi = ei - oi
      const rr = gr - hr
      const ri = gi - hi
      const ur = wr[i]!
      const ui = wi[i]!
      const vr = wr[i + stride]!
      const vi = wi[i + stride]!
      const xr = wr[i + 2 * stride]!
      const xi = wi[i + 2 * stride]!
      tr[out + far] = pr * ur - pi * ui
      ti[out + far] = pr * ui + pi * ur
      tr[out + 2 * far] = qr * vr - qi * vi
      ti[out + 2 * far] = qr * vi + qi * vr
      tr[out + 3 * far] = rr * xr - ri * xi
      ti[out + 3 * far] = rr * xi + ri * xr
    }
}

const COS_72 = (Math.sqrt(5) - 1) / 4
const COS_144 = -(Math.sqrt(5) + 1) / 4
const SIN_72 = Math.sqrt((5 + Math.sqrt(5)) / 8)
const SIN_144 = Math.sqrt((5 - Math.sqrt(5)) / 8)

export function butterfly5({ groups, stride, re: wr, im: wi }: Pass, from: Split, to: Split): void {
  const { re: fr, im: fi } = from
  const { re: tr, im: ti } = to
  const far = stride * groups
  for (let k = 0; k < groups; k += 1)
    for (let i = 0; i < stride; i += 1) {
      const a = i + stride * 5 * k
      const b = a + stride
      const c = b + stride
      const d = c + stride
      const e = d + stride
      const out = i + stride * k
      const s1r = fr[b]! + fr[e]!
      const s1i = fi[b]! + fi[e]!
      const d1r = fi[b]! - fi[e]!
      const d1i = fr[e]! - fr[b]!
      const s2r = fr[c]! + fr[d]!
      const s2i = fi[c]! + fi[d]!
      const d2r = fi[c]! - fi[d]!
      const d2i = fr[d]! - fr[c]!
      const m1r = fr[a]! + COS_72 * s1r + COS_144 * s2r
      const m1i = fi[a]! + COS_72 * s1i + COS_144 * s2i
      const m2r = fr[a]! + COS_144 * s1r + COS_72 * s2r
      const m2i = fi[a]! + COS_144 * s1i + COS_72 * s2i
      const n1r = SIN_72 * d1r + SIN_144 * d2r
      const n1i = SIN_72 * d1i + SIN_144 * d2i
      const n2r = SIN_144 * d1r - SIN_72 * d2r
      const n2i = SIN_144 * d1i - SIN_72 * d2i
      tr[out] = fr[a]! + s1r + s2r
      ti[out] = fi[a]! + s1i + s2i
      let w = i
      let to_ = out + far
      tr[to_] = (m1r + n1r) * wr[w]! - (m1i + n1i) * wi[w]!
      ti[to_] = (m1r + n1r) * wi[w]! + (m1i + n1i) * wr[w]!
      w += stride
      to_ += far
      tr[to_] = (m2r + n2r) * wr[w]! - (m2i + n2i) * wi[w]!
      ti[to_] = (m2r + n2r) * wi[w]! + (m2i + n2i) * wr[w]!
      w += stride
      to_ += far
      tr[to_] = (m2r - n2r) * wr[w]! - (m2i - n2i) * wi[w]!
      ti[to_] = (m2r - n2r) * wi[w]! + (m2i - n2i) * wr[w]!
      w += stride
      to_ += far
      tr[to_] = (m1r - n1r) * wr[w]! - (m1i - n1i) * wi[w]!
      ti[to_] = (m1r - n1r) * wi[w]! + (m1i - n1i) * wr[w]!
    }
}
