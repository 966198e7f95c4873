import { normalsNatively } from '../../kernels/native.ts'
import type { WordStream } from './word-stream.ts'
import { zigguratEdges } from './ziggurat-edges.ts'

/**
 * Normal numbers by the ziggurat method: Marsaglia and Tsang, "The ziggurat method for generating random variables"
 * (Journal of Statistical Software 5, 2000), in the form that Doornik gave it (2005) and in NumPy's order of the bits.
 *
 * A word chooses a layer (8 bits), a sign and a place in the layer. 98.8 % of places lie wholly under the curve. The
 * others take further words: for a height in the layer, or for the tail beyond the lowest layer's edge.
 */
interface Layers {
  /** The three of them, one behind the other. */
  readonly table: Float64Array
  /** Place to number: the width of a layer over the number of places. */
  readonly widths: Float64Array
  /** Places below this lie under the curve. */
  readonly inside: Float64Array
  /** The curve at a layer's edge. */
  readonly heights: Float64Array
}

const LAYERS = 256
const TAIL = 3.6541528853610088
/** Inside the lowest strip: TAIL over its width. */
const LOWEST_INSIDE_52 = 4208095142473578
const LOWEST_INSIDE_23 = 7838188

let layers64: Layers | undefined
let layers32: Layers | undefined

/** Fills `target` with standard normal numbers. `natively`: the kernel; its twin is what it leaves. */
export function fillNormal64(
  stream: WordStream,
  target: Float64Array,
  natively: typeof normalsNatively = normalsNatively,
): void {
  layers64 ??= layersOf(52, LOWEST_INSIDE_52, (value) => value)
  const { table } = layers64
  const counts = new Uint32Array(2)
  let index = 0
  let isNative = true
  const takeMany = (words: Uint32Array): number => {
    isNative = natively(table, words, target.subarray(index), counts)
    if (!isNative) return 0
    index += counts[1]!
    return counts[0]!
  }
  while (index < target.length) {
    if (isNative) stream.takeMany(takeMany)
    // The kernel stops before a number of the tail, and at the last words of a block.
    if (index < target.length) target[index++] = normal64(stream, layers64)
  }
}

function normal64(stream: WordStream, layers: Layers): number {
  const at = stream.next()
  const low = stream.words[at]!
  const layer = low & 0xff
  // Bit 8 is the sign, the 52 bits from 9 on are the place.
  const place = (stream.words[at + 1]! & 0x1fffffff) * 2 ** 23 + (low >>> 9)
  const x = place * layers.widths[layer]!
  const signed = (low & 0x100) === 0 ? x : -x
  return place < layers.inside[layer]! ? signed : beyond64(stream, layers, layer, place, signed)
}

/** A place that is not inside of its layer: it is taken, or another, until one is. */
function beyond64(stream: WordStream, layers: Layers, layer: number, place: number, x: number): number {
  if (layer === 0) return tail64(stream, (Math.floor(place / 256) & 1) === 1)
  const lower = layers.heights[layer]!
  const height = (layers.heights[layer - 1]! - lower) * stream.nextFloat64() + lower
  return height < Math.exp(-0.5 * x * x) ? x : normal64(stream, layers)
}

function tail64(stream: WordStream, negative: boolean): number {
  for (;;) {
    const x = -(1 / TAIL) * Math.log1p(-stream.nextFloat64())
    const y = -Math.log1p(-stream.nextFloat64())
    if (y + y > x * x) return negative ? -(TAIL + x) : TAIL + x
  }
}

/** As above in float32, of 32 bits each: every step is rounded. */
export function fillNormal32(stream: WordStream, target: Float32Array): void {
  layers32 ??= layersOf(23, LOWEST_INSIDE_23, Math.fround)
  for (let index = 0; index < target.length; index += 1) target[index] = normal32(stream, layers32)
}

function normal32(stream: WordStream, layers: Layers): number {
  const word = stream.next32()
  const layer = word & 0xff
  const place = word >>> 9
  const x = Math.fround(place * layers.widths[layer]!)
  const signed = (word & 0x100) === 0 ? x : -x
  return place < layers.inside[layer]! ? signed : beyond32(stream, layers, layer, place, signed)
}

function beyond32(stream: WordStream, layers: Layers, layer: number, place: number, x: number): number {
  if (layer === 0) return tail32(stream, ((place >>> 8) & 1) === 1)
  const lower = layers.heights[layer]!
  const step = Math.fround(layers.heights[layer - 1]! - lower)
  const height = Math.fround(Math.fround(step * stream.nextFloat32()) + lower)
  return height < Math.exp(-0.5 * x * x) ? x : normal32(stream, layers)
}

const TAIL_32 = Math.fround(TAIL)
const TAIL_INVERSE_32 = Math.fround(1 / TAIL)

function tail32(stream: WordStream, negative: boolean): number {
  for (;;) {
    const x = Math.fround(-TAIL_INVERSE_32 * Math.fround(Math.log1p(-stream.nextFloat32())))
    const y = Math.fround(-Math.log1p(-stream.nextFloat32()))
    if (Math.fround(y + y) > Math.fround(x * x)) return negative ? -(TAIL_32 + x) : TAIL_32 + x
  }
}

function layersOf(placeBits: number, lowestInside: number, round: (value: number) => number): Layers {
  const edges = zigguratEdges()
  const places = 2 ** placeBits
  const table = new Float64Array(3 * LAYERS)
  const [widths, inside, heights] = [0, 1, 2].map((at) => table.subarray(at * LAYERS, (at + 1) * LAYERS)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ]
  inside[0] = lowestInside
  for (let layer = 2; layer < LAYERS; layer += 1)
    inside[layer] = roundToEven((edges[layer - 1]! / edges[layer]!) * places)
  heights.set(edges.map((edge, layer) => round(layer === 0 ? 1 : Math.exp(-0.5 * edge * edge))))
  widths.set(edges.map((edge) => round(edge / places)))
  return { table, widths, inside, heights }
}

function roundToEven(value: number): number {
  const down = Math.floor(value)
  const fraction = value - down
  return fraction > 0.5 || (fraction === 0.5 && down % 2 === 1) ? down + 1 : down
}
