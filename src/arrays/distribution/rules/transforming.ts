import { ArrayNode } from '../../graph/node.ts'
import { type ManyAxesOptions, stepsFromHalf, stepsToHalf, wholeSteps } from '../../local/fft/many-axes.ts'
import { resultOf } from '../../local/fft/transforms.ts'
import { complex64, complex128, float32, float64 } from '../../types/dtype.ts'
import { alongAxis } from './along-axis.ts'
import { optionsOf, type Rule } from './rule.ts'

/** Transforms along several axes, one after another: what is divided along the next one is exchanged before. */
function transformed(way: 'fft' | 'ifft', stepsOf: typeof wholeSteps): Rule {
  return (sharing, _, [x, ...others]) => {
    if (!(x instanceof ArrayNode)) return undefined
    const options = optionsOf(others) as ManyAxesOptions
    const steps = stepsOf(x, options)
    if (steps.length === 0) return undefined
    // All but the last keep float64.
    const wide = x.dtype === float32 ? float64 : x.dtype === complex64 ? complex128 : x.dtype
    const source = wide === x.dtype ? x : sharing.call('astype', [x, wide])
    const result = steps.reduce((node: unknown, { axis, length, kind }) => {
      const name = kind === 'complex' ? way : kind === 'to half' ? 'rfft' : 'irfft'
      return sharing.call(`fft.${name}`, [node, { axis, n: length, norm: options.norm ?? 'backward' }])
    }, source)
    const isReal = steps.at(-1)!.kind === 'from half'
    return wide === x.dtype
      ? result
      : sharing.call('astype', [result, resultOf(x.dtype, isReal ? 'from half' : 'complex')])
  }
}

export const transforms: readonly (readonly [string, Rule])[] = [
  ...['fft', 'ifft', 'rfft', 'irfft', 'hfft', 'ihfft'].map((name) => [`fft.${name}`, alongAxis(-1)] as const),
  ['fft.fftn', transformed('fft', wholeSteps)],
  ['fft.ifftn', transformed('ifft', wholeSteps)],
  ['fft.rfftn', transformed('fft', stepsToHalf)],
  ['fft.irfftn', transformed('ifft', stepsFromHalf)],
]
