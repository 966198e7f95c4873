import type { Block } from '../../../../src/arrays/blocks/block.ts'
import { type DType, float32, float64, isComplex } from '../../../../src/arrays/types/dtype.ts'
import type { Comparison, Comparisons } from '../comparison.ts'
import { type Draw, kinds } from '../draw.ts'

const complexes = kinds.floating.filter(isComplex)
const norms = ['backward', 'ortho', 'forward']
const lengths = [[1], [2], [7], [8], [15], [64], [2, 3, 4], [5, 6]]

/** NumPy before 2.0 computes all transforms in 64 bits: rounded to 32, they are closer than asked for here. */
function transform(
  name: string,
  dtypes: readonly DType[],
  options: (draw: Draw, x: Block) => Record<string, unknown>[],
): Comparison {
  return {
    *calls(draw) {
      for (const dtype of dtypes) {
        for (const shape of lengths) {
          const x = draw.block(dtype, shape)
          for (const more of [{}, { norm: draw.pick(norms) }, ...options(draw, x)]) yield [x, more]
        }
      }
    },
    numpy: (x, more = '') =>
      `r = np.fft.${name}(${[x, more].filter(Boolean).join(', ')})\n` +
      `r.astype({'f': 'float', 'c': 'complex'}[r.dtype.kind] + str(r.dtype.itemsize * 8 // (2 if ${x}.dtype.name in ('float32', 'complex64') and r.dtype.name in ('float64', 'complex128') else 1)))`,
    closeness: { epsilons: 32 },
  }
}

function alongOne(draw: Draw, { shape }: Block): Record<string, unknown>[] {
  const axis = draw.axis(shape)
  return [{ axis }, { axis, n: draw.whole(2, 12), norm: draw.pick(norms) }]
}

function alongMany(draw: Draw, { shape }: Block): Record<string, unknown>[] {
  if (shape.length < 2) return [{ axes: [0] }]
  return [{ axes: [0] }, { axes: [-1, 0], norm: draw.pick(norms) }, { s: [4, 3], axes: [0, 1] }]
}

/** A half spectrum of at least two elements: of one, the length of the whole would be 0. */
function spectrum(comparison: Comparison): Comparison {
  return {
    ...comparison,
    *calls(draw) {
      for (const call of comparison.calls(draw)) {
        const [{ shape }, { axis = -1, n, axes, s }] = call as unknown as [
          Block,
          { axis?: number; n?: number; axes?: number[]; s?: number[] },
        ]
        const last = shape.at(axes?.at(-1) ?? axis)!
        if (last > 1 || n !== undefined || s !== undefined) yield call
      }
    },
  }
}

function shifts(name: string): Comparison {
  return {
    *calls(draw) {
      for (const dtype of kinds.floating) {
        for (const shape of [[1], [7], [8], [3, 4], [0]]) {
          const x = draw.block(dtype, shape)
          yield [x, {}]
          yield [x, { axes: draw.axis(shape) }]
        }
        yield [draw.block(dtype, [3, 4]), { axes: [0, 1] }]
      }
    },
    numpy: `fft.${name}`,
  }
}

function frequencies(name: string): Comparison {
  return {
    *calls() {
      for (const n of [1, 2, 7, 8]) {
        yield [n, {}]
        for (const dtype of [float32, float64]) yield [n, { d: 0.25, dtype }]
      }
    },
    numpy: (n, options = '') => {
      const dtype = /, dtype=(.*)$/.exec(options)?.[1]
      const plain = `np.fft.${name}(${[n, options.replace(/, dtype=.*$/, '')].filter(Boolean).join(', ')})`
      return dtype === undefined ? plain : `${plain}.astype(${dtype})`
    },
    closeness: { ulps: 2 },
  }
}

export const fft: Comparisons = {
  'fft.fft': transform('fft', kinds.floating.filter(isComplex), alongOne),
  'fft.ifft': transform('ifft', complexes, alongOne),
  'fft.fftn': transform('fftn', complexes, alongMany),
  'fft.ifftn': transform('ifftn', complexes, alongMany),
  'fft.rfft': transform('rfft', kinds.real, alongOne),
  'fft.irfft': spectrum(transform('irfft', complexes, alongOne)),
  'fft.rfftn': transform('rfftn', kinds.real, alongMany),
  'fft.irfftn': spectrum(transform('irfftn', complexes, alongMany)),
  'fft.hfft': spectrum(transform('hfft', complexes, alongOne)),
  'fft.ihfft': transform('ihfft', kinds.real, alongOne),
  'fft.fftfreq': frequencies('fftfreq'),
  'fft.rfftfreq': frequencies('rfftfreq'),
  'fft.fftshift': shifts('fftshift'),
  'fft.ifftshift': shifts('ifftshift'),
}
