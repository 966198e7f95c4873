import { fftfreq, rfftfreq } from '../local/fft/frequencies.ts'
import { fftn, ifftn, irfftn, rfftn } from '../local/fft/many-axes.ts'
import { fftshift, ifftshift } from '../local/fft/shift.ts'
import { fft, hfft, ifft, ihfft, irfft, rfft } from '../local/fft/transforms.ts'
import type { Entry } from './entry.ts'

const one = "x, /, *, n=None, axis=-1, norm='backward'"
const many = "x, /, *, s=None, axes=None, norm='backward'"
const frequency = 'n, /, *, d=1.0, dtype=None, device=None'

/** Fourier transforms, the extension `fft` of the standard. A transform needs whole lines of the array. */
export const fourier: readonly Entry[] = [
  { name: 'fft.fft', parameters: one, moves: 'exchange', compute: fft },
  { name: 'fft.ifft', parameters: one, moves: 'exchange', compute: ifft },
  { name: 'fft.fftn', parameters: many, moves: 'exchange', compute: fftn },
  { name: 'fft.ifftn', parameters: many, moves: 'exchange', compute: ifftn },
  { name: 'fft.rfft', parameters: one, moves: 'exchange', compute: rfft },
  { name: 'fft.irfft', parameters: one, moves: 'exchange', compute: irfft },
  { name: 'fft.rfftn', parameters: many, moves: 'exchange', compute: rfftn },
  { name: 'fft.irfftn', parameters: many, moves: 'exchange', compute: irfftn },
  { name: 'fft.hfft', parameters: one, moves: 'exchange', compute: hfft },
  { name: 'fft.ihfft', parameters: one, moves: 'exchange', compute: ihfft },
  { name: 'fft.fftfreq', parameters: frequency, moves: 'nothing', compute: fftfreq },
  { name: 'fft.rfftfreq', parameters: frequency, moves: 'nothing', compute: rfftfreq },
  { name: 'fft.fftshift', parameters: 'x, /, *, axes=None', moves: 'exchange', compute: fftshift },
  { name: 'fft.ifftshift', parameters: 'x, /, *, axes=None', moves: 'exchange', compute: ifftshift },
]

export interface Fourier {
  fft: typeof fft
  ifft: typeof ifft
  fftn: typeof fftn
  ifftn: typeof ifftn
  rfft: typeof rfft
  irfft: typeof irfft
  rfftn: typeof rfftn
  irfftn: typeof irfftn
  hfft: typeof hfft
  ihfft: typeof ihfft
  fftfreq: typeof fftfreq
  rfftfreq: typeof rfftfreq
  fftshift: typeof fftshift
  ifftshift: typeof ifftshift
}
