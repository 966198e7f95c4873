// One pass of a Fourier transform over neighbouring positions: the formulas of src/arrays/local/fft/butterflies.ts, in
// the same order, so that the bits are the same. Included in a namespace for each set of instructions.

template <size_t radix>
void butterflies(const Split& from, const Split& to, const Split& roots, size_t count) {
  // Input and output j of each position.
  const auto of = [](const double* first, size_t step, size_t j) { return first + j * step; };
  double* __restrict const tr = to.re;
  double* __restrict const ti = to.im;
  const auto turn = [&](size_t j, size_t i, double re, double im) {
    const double wr = of(roots.re, roots.step, j - 1)[i], wi = of(roots.im, roots.step, j - 1)[i];
    tr[j * to.step + i] = re * wr - im * wi;
    ti[j * to.step + i] = re * wi + im * wr;
  };
  const double sin60 = __builtin_sqrt(3.0) / 2;
  const double cos72 = (__builtin_sqrt(5.0) - 1) / 4, cos144 = -(__builtin_sqrt(5.0) + 1) / 4;
  const double sin72 = __builtin_sqrt((5 + __builtin_sqrt(5.0)) / 8), sin144 = __builtin_sqrt((5 - __builtin_sqrt(5.0)) / 8);
#pragma GCC ivdep
  for (size_t i = 0; i < count; i++) {
    double r[radix], m[radix];
#pragma GCC unroll 8
    for (size_t j = 0; j < radix; j++) {
      r[j] = of(from.re, from.step, j)[i];
      m[j] = of(from.im, from.step, j)[i];
    }
    if constexpr (radix == 2) {
      tr[i] = r[0] + r[1];
      ti[i] = m[0] + m[1];
      turn(1, i, r[0] - r[1], m[0] - m[1]);
    } else if constexpr (radix == 3) {
      const double sr = r[1] + r[2], si = m[1] + m[2];
      const double mr = r[0] - sr / 2, mi = m[0] - si / 2;
      const double dr = sin60 * (m[1] - m[2]), di = sin60 * (r[2] - r[1]);
      tr[i] = r[0] + sr;
      ti[i] = m[0] + si;
      turn(1, i, mr + dr, mi + di);
      turn(2, i, mr - dr, mi - di);
    } else if constexpr (radix == 4) {
      const double er = r[0] + r[2], ei = m[0] + m[2];
      const double gr = r[0] - r[2], gi = m[0] - m[2];
      const double sr = r[1] + r[3], si = m[1] + m[3];
      // -i (b - d)
      const double hr = m[1] - m[3], hi = r[3] - r[1];
      tr[i] = er + sr;
      ti[i] = ei + si;
      turn(1, i, gr + hr, gi + hi);
      turn(2, i, er - sr, ei - si);
      turn(3, i, gr - hr, gi - hi);
    } else {
      const double s1r = r[1] + r[4], s1i = m[1] + m[4];
      const double d1r = m[1] - m[4], d1i = r[4] - r[1];
      const double s2r = r[2] + r[3], s2i = m[2] + m[3];
      const double d2r = m[2] - m[3], d2i = r[3] - r[2];
      const double m1r = r[0] + cos72 * s1r + cos144 * s2r, m1i = m[0] + cos72 * s1i + cos144 * s2i;
      const double m2r = r[0] + cos144 * s1r + cos72 * s2r, m2i = m[0] + cos144 * s1i + cos72 * s2i;
      const double n1r = sin72 * d1r + sin144 * d2r, n1i = sin72 * d1i + sin144 * d2i;
      const double n2r = sin144 * d1r - sin72 * d2r, n2i = sin144 * d1i - sin72 * d2i;
      tr[i] = r[0] + s1r + s2r;
      ti[i] = m[0] + s1i + s2i;
      turn(1, i, m1r + n1r, m1i + n1i);
      turn(2, i, m2r + n2r, m2i + n2i);
      turn(3, i, m2r - n2r, m2i - n2i);
      turn(4, i, m1r - n1r, m1i - n1i);
    }
  }
}

void fillButterflies(Kernels* table) {
  table->butterflies[2] = butterflies<2>;
  table->butterflies[3] = butterflies<3>;
  table->butterflies[4] = butterflies<4>;
  table->butterflies[5] = butterflies<5>;
}
