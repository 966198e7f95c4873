import type { Block } from '../blocks/block.ts'
import {
  type IntegersOptions,
  type PermutationOptions,
  RandomGenerator,
  type RealOptions,
  type Size,
} from '../local/random/generator.ts'
import type { StreamSource } from '../local/random/word-stream.ts'
import type { PartOfArray } from '../partitions/runs.ts'
import { float64 } from '../types/dtype.ts'
import type { CreationOptions } from './creation.ts'
import type { Entry } from './entry.ts'

/** How a new array lies over the ranks of a group. */
type Divided = Pick<CreationOptions, 'partition' | 'access'>

/** The stream of a seed, or of `{ key, counter }`, from which the functions below take their numbers. */
function generator(source: number | bigint | StreamSource): RandomGenerator {
  return new RandomGenerator(source)
}

function random(stream: RandomGenerator, size?: Size, options?: RealOptions & Divided): Block {
  return stream.random(extentsOf(size), options)
}

function uniform(stream: RandomGenerator, low?: number, high?: number, size?: Size, _options?: Divided): Block {
  return stream.uniform(Number(low ?? 0), Number(high ?? 1), extentsOf(size))
}

function standardNormal(stream: RandomGenerator, size?: Size, options?: RealOptions & Divided): Block {
  return stream.standardNormal(extentsOf(size), options)
}

function normal(stream: RandomGenerator, mean?: number, deviation?: number, size?: Size, _options?: Divided): Block {
  return stream.normal(Number(mean ?? 0), Number(deviation ?? 1), extentsOf(size))
}

function integers(
  stream: RandomGenerator,
  low: number | bigint,
  high?: number | bigint | null,
  size?: Size,
  options?: IntegersOptions & Divided,
): Block {
  return stream.integers(low, high, extentsOf(size), options)
}

function permutation(
  stream: RandomGenerator,
  x: number | bigint | Block,
  options?: PermutationOptions & Divided,
): Block {
  return stream.permutation(x, options)
}

/** Extents may be bigints. */
function extentsOf(size: Size = []): readonly number[] {
  return [size].flat().map(Number)
}

/** Each of these takes one word of the stream, so that a rank computes those of its part only. */
const randomPart = {
  shape: (_: RandomGenerator, size: Size = [], { dtype }: RealOptions = {}) =>
    dtype === undefined || dtype === float64 ? size : undefined,
  compute: (part: PartOfArray, stream: RandomGenerator, size?: Size) => stream.randomPart(extentsOf(size), part),
}
const uniformPart = {
  shape: (_: RandomGenerator, _low?: number, _high?: number, size: Size = []) => size,
  compute: (part: PartOfArray, stream: RandomGenerator, low = 0, high = 1, size?: Size) =>
    stream.uniformPart(Number(low), Number(high), extentsOf(size), part),
}

/**
 * Random numbers. Ranks that make a generator of one seed and call in one order have the same numbers. So an array of
 * them needs nothing from another rank.
 */
export const randomFunctions: readonly Entry[] = [
  { name: 'random.generator', parameters: 'seed, /', moves: 'nothing', compute: generator },
  {
    name: 'random.random',
    parameters: 'generator, size=(), /, *, dtype=None',
    moves: 'nothing',
    compute: random,
    part: randomPart,
  },
  {
    name: 'random.uniform',
    parameters: 'generator, low=0, high=1, size=(), /',
    moves: 'nothing',
    compute: uniform,
    part: uniformPart,
  },
  {
    name: 'random.standard_normal',
    parameters: 'generator, size=(), /, *, dtype=None',
    moves: 'nothing',
    compute: standardNormal,
  },
  {
    name: 'random.normal',
    parameters: 'generator, mean=0, deviation=1, size=(), /',
    moves: 'nothing',
    compute: normal,
  },
  {
    name: 'random.integers',
    parameters: 'generator, low, high=None, size=(), /, *, dtype=None, endpoint=False',
    moves: 'nothing',
    compute: integers,
  },
  {
    name: 'random.permutation',
    parameters: 'generator, population, /, *, axis=0',
    moves: 'exchange',
    compute: permutation,
  },
]

export interface Random {
  random: {
    generator: typeof generator
    random: typeof random
    uniform: typeof uniform
    standardNormal: typeof standardNormal
    normal: typeof normal
    integers: typeof integers
    permutation: typeof permutation
  }
}
