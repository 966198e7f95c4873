import {
  broadcastArrays,
  broadcastToShape,
  commonShape,
  concat,
  concatResult,
  expandDims,
  flip,
  moveaxis,
  permuteDims,
  repeat,
  reshape,
  roll,
  squeeze,
  stack,
  stackResult,
  tile,
  unstack,
} from '../local/manipulation.ts'
import type { Entry } from './entry.ts'

/** Views move nothing until they meet arrays of another partition. */
export const manipulation: readonly Entry[] = [
  { name: 'broadcast_arrays', parameters: '*arrays', moves: 'nothing', compute: broadcastArrays },
  { name: 'broadcast_shapes', parameters: '*shapes', moves: 'nothing', compute: commonShape },
  { name: 'broadcast_to', parameters: 'x, /, shape', moves: 'nothing', compute: broadcastToShape },
  { name: 'concat', parameters: 'arrays, /, *, axis=0', moves: 'exchange', compute: concat, result: concatResult },
  { name: 'expand_dims', parameters: 'x, /, axis', moves: 'nothing', compute: expandDims },
  { name: 'flip', parameters: 'x, /, *, axis=None', moves: 'exchange', compute: flip },
  { name: 'moveaxis', parameters: 'x, source, destination, /', moves: 'nothing', compute: moveaxis },
  { name: 'permute_dims', parameters: 'x, /, axes', moves: 'nothing', compute: permuteDims },
  { name: 'repeat', parameters: 'x, repeats, /, *, axis=None', moves: 'exchange', compute: repeat },
  { name: 'reshape', parameters: 'x, /, shape, *, copy=None', moves: 'exchange', compute: reshape },
  { name: 'roll', parameters: 'x, /, shift, *, axis=None', moves: 'exchange', compute: roll },
  { name: 'squeeze', parameters: 'x, /, axis', moves: 'nothing', compute: squeeze },
  { name: 'stack', parameters: 'arrays, /, *, axis=0', moves: 'exchange', compute: stack, result: stackResult },
  { name: 'tile', parameters: 'x, repetitions, /', moves: 'exchange', compute: tile },
  { name: 'unstack', parameters: 'x, /, *, axis=0', moves: 'exchange', compute: unstack },
]

export interface Manipulation {
  broadcastArrays: typeof broadcastArrays
  broadcastShapes: typeof commonShape
  broadcastTo: typeof broadcastToShape
  concat: typeof concat
  expandDims: typeof expandDims
  flip: typeof flip
  moveaxis: typeof moveaxis
  permuteDims: typeof permuteDims
  repeat: typeof repeat
  reshape: typeof reshape
  roll: typeof roll
  squeeze: typeof squeeze
  stack: typeof stack
  tile: typeof tile
  unstack: typeof unstack
}
