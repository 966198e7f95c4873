import type { Arrays, NdArray, openArrays } from 'aether-dsm/arrays'

/** The namespace of the ranks of a group. */
export type SharedArrays = Awaited<ReturnType<typeof openArrays>>

/** Does one operation. What it returns is dropped. */
export type Act = () => unknown

/** What is done to arrays of float64 of one length. */
export interface LocalWork {
  readonly op: string
  readonly prepare: (xp: Arrays, elements: number) => Act
  /** The same in Python: statements that make the operands of `n` elements, and the expression that is timed. */
  readonly python: { readonly before: string; readonly timed: string }
  /** The most elements, where more would take minutes. */
  readonly elementsMax?: number
}

const SEED = 7
const TWO = { before: 'x = np.linspace(0, 1, n); y = np.linspace(1, 2, n)', timed: '' }

const pair = (xp: Arrays, elements: number): [NdArray, NdArray] => [
  xp.linspace(0, 1, elements),
  xp.linspace(1, 2, elements),
]
const random = (xp: Arrays, elements: number): NdArray => xp.random.random(xp.random.generator(SEED), elements)
const sideOf = (elements: number): number => Math.floor(Math.sqrt(elements))
const RANDOM = 'x = np.random.default_rng(7).random(n)'
const SQUARE = 's = int(n ** 0.5); x = np.linspace(0, 1, s * s).reshape(s, s)'

function square(xp: Arrays, elements: number): NdArray {
  const side = sideOf(elements)
  return xp.linspace(0, 1, side * side).reshape([side, side])
}

function product(xp: Arrays, elements: number, type: 'float32' | 'float64'): Act {
  const x = square(xp, elements).astype(xp[type]).computeSync()
  return () => xp.matmul(x, x).computeSync()
}

/** Of one process, beside NumPy. */
export const localWorks: readonly LocalWork[] = [
  {
    op: 'add',
    prepare: (xp, elements) => {
      const [x, y] = pair(xp, elements)
      return () => x.add(y).computeSync()
    },
    python: { ...TWO, timed: 'x + y' },
  },
  {
    op: 'chain of 3',
    prepare: (xp, elements) => {
      const [x, y] = pair(xp, elements)
      return () => x.add(y).multiply(y).subtract(x).computeSync()
    },
    python: { ...TWO, timed: '(x + y) * y - x' },
  },
  {
    op: 'exp',
    prepare: (xp, elements) => {
      const [x] = pair(xp, elements)
      return () => x.exp().computeSync()
    },
    python: { ...TWO, timed: 'np.exp(x)' },
  },
  {
    op: 'sum',
    prepare: (xp, elements) => {
      const [x] = pair(xp, elements)
      return () => x.sum().item()
    },
    python: { ...TWO, timed: 'x.sum()' },
  },
  {
    op: 'mean, axis 0',
    prepare: (xp, elements) => {
      const x = square(xp, elements)
      return () => x.mean({ axis: 0 }).computeSync()
    },
    python: { before: SQUARE, timed: 'x.mean(axis=0)' },
  },
  {
    op: 'sort',
    prepare: (xp, elements) => {
      const x = random(xp, elements)
      return () => x.sort().computeSync()
    },
    python: { before: RANDOM, timed: 'np.sort(x)' },
    elementsMax: 1e7,
  },
  {
    op: 'matmul',
    prepare: (xp, elements) => product(xp, elements, 'float64'),
    python: { before: SQUARE, timed: 'x @ x' },
    elementsMax: 4e6,
  },
  {
    op: 'matmul float32',
    prepare: (xp, elements) => product(xp, elements, 'float32'),
    python: { before: `${SQUARE}.astype(np.float32)`, timed: 'x @ x' },
    elementsMax: 4e6,
  },
  {
    op: 'fft',
    prepare: (xp, elements) => {
      const x = random(xp, elements).astype(xp.complex128).computeSync()
      return () => xp.fft.fft(x).computeSync()
    },
    python: { before: `${RANDOM}.astype(complex)`, timed: 'np.fft.fft(x)' },
    elementsMax: 1e7,
  },
  {
    op: 'random normal',
    prepare: (xp, elements) => {
      const generator = xp.random.generator(SEED)
      return () => xp.random.standardNormal(generator, elements)
    },
    python: { before: 'g = np.random.Generator(np.random.Philox(7))', timed: 'g.standard_normal(n)' },
  },
  {
    op: 'boolean mask',
    prepare: (xp, elements) => {
      const x = random(xp, elements)
      const mask = x.less(0.5).computeSync()
      return () => x.at(mask).computeSync()
    },
    python: { before: `${RANDOM}; m = x < 0.5`, timed: 'x[m]' },
  },
  {
    op: 'get an element',
    prepare: (xp, elements) => {
      const [x] = pair(xp, elements)
      let at = 0
      return () => {
        at = (at + 7919) % elements
        return x.get(at)
      }
    },
    python: { before: `${TWO.before}; f = x.item`, timed: 'f(77)' },
  },
  {
    op: 'set an element',
    prepare: (xp, elements) => {
      const [x] = pair(xp, elements)
      let at = 0
      return () => {
        at = (at + 7919) % elements
        return x.set(at, 1.5)
      }
    },
    python: { before: `${TWO.before}; f = x.__setitem__`, timed: 'f(77, 1.5)' },
  },
]

/** What ranks do together to an array in parts. */
export interface RankWork {
  readonly op: string
  readonly prepare: (xp: SharedArrays, elements: number, rank: number, size: number) => Act
  /**
   * Bytes that no way of doing it could spare to move, at all ranks together. Null if the least is not known, and for
   * single elements, which are loaded from mapped memory and not counted.
   */
  readonly neededBytes: (elements: number, size: number) => number | null
  /** Only rank 0 does it, to elements of the last rank; there are at least two. */
  readonly isOneSided?: boolean
}

/** Elements of one bulk get, at most. */
const BULK = 2 ** 17
const bulkOf = (elements: number, size: number): number => Math.min(BULK, Math.floor(elements / size / 2))

/** How many elements another rank has after a block partition became a cyclic one. */
function movedByCycling(elements: number, size: number): number {
  let stay = 0
  for (let rank = 0; rank < size; rank += 1) {
    // Where the block of a rank starts.
    const start = (before: number): number => Math.floor((before * elements) / size)
    // Numbers below `end` that are `rank` modulo `size`.
    const below = (end: number): number => Math.max(0, Math.ceil((end - rank) / size))
    stay += below(start(rank + 1)) - below(start(rank))
  }
  return elements - stay
}

const divided = (xp: SharedArrays, elements: number): NdArray =>
  xp.random.random(xp.random.generator(SEED), elements, { partition: 'block' } as object).computeSync()

export const rankWorks: readonly RankWork[] = [
  {
    op: 'add, in parts',
    prepare: (xp, elements) => {
      const x = divided(xp, elements)
      return () => x.add(x).computeSync()
    },
    neededBytes: () => 0,
  },
  {
    op: 'sum, in parts',
    prepare: (xp, elements) => {
      const x = divided(xp, elements)
      return () => x.sum().item()
    },
    neededBytes: () => null,
  },
  {
    op: 'redistribute',
    prepare: (xp, elements) => {
      const x = divided(xp, elements)
      return () => {
        xp.redistribute(x, 'cyclic').computeSync()[Symbol.dispose]()
      }
    },
    neededBytes: (elements, size) => 8 * movedByCycling(elements, size),
  },
  {
    op: 'get, any rank',
    prepare: (xp, elements, rank) => {
      const x = divided(xp, elements)
      let at = rank
      return () => {
        at = (at + 7919) % elements
        return x.get(at)
      }
    },
    neededBytes: () => null,
  },
  {
    op: 'set, any rank',
    prepare: (xp, elements, rank) => {
      const x = divided(xp, elements)
      let at = rank
      return () => {
        at = (at + 7919) % elements
        return x.set(at, 0.5)
      }
    },
    neededBytes: () => null,
  },
  {
    op: 'get, remote',
    isOneSided: true,
    prepare: (xp, elements) => {
      const x = divided(xp, elements)
      return () => x.get(elements - 1)
    },
    neededBytes: () => null,
  },
  {
    op: 'set, remote',
    isOneSided: true,
    prepare: (xp, elements) => {
      const x = divided(xp, elements)
      return () => x.set(elements - 1, 0.5)
    },
    neededBytes: () => null,
  },
  {
    op: 'bulk get',
    isOneSided: true,
    prepare: (xp, elements, _, size) => {
      const x = divided(xp, elements)
      const target = new Float64Array(bulkOf(elements, size))
      return () => x.getBulk({ rank: size - 1, start: 0 }, target)
    },
    neededBytes: (elements, size) => 8 * bulkOf(elements, size),
  },
]
