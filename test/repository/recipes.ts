/** Lines that are entered before a line of a file or instead of it. It has to stand there once. */
export interface Entry {
  readonly file: string
  readonly at: string
  readonly stays: boolean
  readonly lines: readonly string[]
}

/** What CONTRIBUTING says of adding something: files of a folder below `recipes/`, and entries elsewhere. */
export interface Recipe {
  readonly folder: string
  readonly entries: readonly Entry[]
  /** What then has to pass. A recipe's own are named `.recipe.ts`: the runner of this tree leaves them out. */
  readonly tests: readonly { readonly file: string; readonly pattern?: string }[]
}

const enter = (file: string, before: string, ...lines: string[]): Entry => ({ file, at: before, stays: true, lines })
const change = (file: string, at: string, line: string): Entry => ({ file, at, stays: false, lines: [line] })

const structure: Recipe = {
  folder: 'structure',
  tests: [
    { file: 'test/structures/high-mark.recipe.ts' },
    { file: 'test/structures/checking/whole.test.ts', pattern: 'high mark' },
  ],
  entries: [
    enter('src/structures/heap/structure-kind.ts', '  jobs: 19,', "  'high mark': 20,"),
    enter(
      'src/structures/structures.ts',
      "import { type JobCore, openJobCore } from './jobs/job-core.ts'",
      "import { HIGH_MARK_BYTES, HighMark } from './high-mark.ts'",
    ),
    enter(
      'src/structures/structures.ts',
      '  async flag(name: string): Promise<Flag> {',
      '  async highMark(name: string): Promise<HighMark> {',
      "    const { offset } = this.#open('high mark', name, HIGH_MARK_BYTES)",
      '    return new HighMark(name, this.#heap, offset)',
      '  }',
    ),
    enter('src/structures/checking/check-structure.ts', '  sequence: checkSequence,', "  'high mark': checkSequence,"),
    enter('src/structures/checking/check-structure.ts', '  sequence: [],', "  'high mark': [],"),
    enter('src/structures/saving/saved-kinds.ts', '  sequence: savedSequence,', "  'high mark': savedSequence,"),
    enter('src/structures/sight/structure-sight.ts', '  sequence: sequenceSight,', "  'high mark': counterSight,"),
    enter(
      'test/structures/checking/plays.ts',
      "import { LATCH_BYTES, Latch } from '../../../src/structures/latch.ts'",
      "import { HIGH_MARK_BYTES, HighMark } from '../../../src/structures/high-mark.ts'",
    ),
    enter(
      'test/structures/checking/plays.ts',
      '  sequence(by) {',
      "  'high mark'(by) {",
      "    const mark = new HighMark('it', by.heap, opened(by, 'high mark', HIGH_MARK_BYTES))",
      '    return (random) => void mark.raiseSync(random.below(1000))',
      '  },',
    ),
  ],
}

const collective: Recipe = {
  folder: 'collective',
  tests: [{ file: 'test/collectives/collectives.test.ts', pattern: 'rotate' }],
  entries: [
    enter(
      'src/collectives/algorithms.ts',
      "import type { Schedule } from './schedule.ts'",
      "import { type RotateAlgorithm, type RotateTask, rotateRing } from './rotate.ts'",
    ),
    enter(
      'src/collectives/algorithms.ts',
      '  readonly barrier: Table<BarrierAlgorithm, BarrierTask>',
      '  readonly rotate: Table<RotateAlgorithm, RotateTask>',
    ),
    enter(
      'src/collectives/algorithms.ts',
      '  barrier: { dissemination: barrierDissemination },',
      '  rotate: { ring: rotateRing },',
    ),
    enter('src/collectives/collective-options.ts', '  barrier: common,', '  rotate: common,'),
    enter('src/collectives/choose.ts', "  barrier: () => 'dissemination',", "  rotate: () => 'ring',"),
    enter(
      'src/collectives/traffic.ts',
      '  barrier: (algorithm: keyof typeof algorithms.barrier, rank, size) => algorithms.barrier[algorithm]({ rank, size }),',
      '  rotate: (algorithm: keyof typeof algorithms.rotate, rank, size, count) =>',
      '    algorithms.rotate[algorithm]({ rank, size, count }),',
    ),
    enter(
      'src/collectives/calls.ts',
      'export function barrier(options: CallOptions): CollectiveCall<void> {',
      'export function rotate<A extends ElementArray>(input: A, output: A, options: CallOptions): CollectiveCall<A> {',
      '  return {',
      "    name: 'rotate',",
      '    options,',
      '    result: () => output,',
      '    prepare: (shape) => {',
      "      const kind = elementKindOf(input, 'input')",
      '      const count = input.length',
      "      checkLength('output', checkSame(output, kind, 'output'), count)",
      "      const plan = draw(shape, 'rotate', kind, options, count * kind.bytes, String(count), (table, algorithm) =>",
      '        table[algorithm]({ ...at(shape), count }),',
      '      )',
      '      return { plan, memory: { input, output, kernel: undefined } }',
      '    },',
      '  }',
      '}',
    ),
    enter('src/collectives/collectives.ts', '  scan,', '  rotate,'),
    enter(
      'src/collectives/collectives.ts',
      "import type { ScanAlgorithm } from './scan.ts'",
      "import type { RotateAlgorithm } from './rotate.ts'",
    ),
    enter(
      'src/collectives/collectives.ts',
      '  protected abstract carryOut<T>(call: CollectiveCall<T>): Promise<T>',
      '  rotate<A extends ElementArray>(input: A, output: A, options: CollectiveOptions<RotateAlgorithm> = {}): Promise<A> {',
      '    return this.carryOut(rotate(input, output, options))',
      '  }',
      '  rotateSync<A extends ElementArray>(input: A, output: A, options: CollectiveOptions<RotateAlgorithm> = {}): A {',
      '    return this.carryOutSync(rotate(input, output, options))',
      '  }',
    ),
    enter(
      'tools/bench/collectives-member.ts',
      '  barrier: (group, _, algorithm) => () => group.barrier({ algorithm }),',
      '  rotate: (group, count, algorithm) => {',
      '    const [input, output] = [new Float64Array(count), new Float64Array(count)]',
      '    return () => group.rotate(input, output, { algorithm })',
      '  },',
    ),
    enter(
      'test/collectives/collectives.test.ts',
      '  barrier(algorithm: keyof typeof algorithms.barrier, size) {',
      '  rotate(algorithm: keyof typeof algorithms.rotate, size, [count = 0], _root, draw) {',
      '    const inputs = rangeOf(size).map((rank) => draw(rank, count))',
      '    return {',
      '      schedules: rangeOf(size).map((rank) => algorithms.rotate[algorithm]({ rank, size, count })),',
      '      inputs,',
      '      outputLengths: inputs.map(() => count),',
      '      expected: inputs.map((_, rank) => inputs.at(rank - 1)!),',
      '    }',
      '  },',
    ),
  ],
}

const codec: Recipe = {
  folder: 'codec',
  tests: [{ file: 'test/codecs/text.recipe.ts' }],
  entries: [
    enter(
      'src/codecs/built-in-codecs.ts',
      "import { structured } from './structured.ts'",
      "import { text } from './text.ts'",
    ),
    change(
      'src/codecs/built-in-codecs.ts',
      'export const builtInCodecs: readonly Codec<unknown>[] = [structured, json, number, bytes]',
      'export const builtInCodecs: readonly Codec<unknown>[] = [structured, json, number, bytes, text]',
    ),
    enter('src/codecs/index.ts', "export { structured } from './structured.ts'", "export { text } from './text.ts'"),
    enter(
      'src/rpc/index.ts',
      "export { IoThreadError } from '../messaging/index.ts'",
      "export { text } from '../codecs/index.ts'",
    ),
    enter(
      'src/structures/index.ts',
      "export type { LogEntry } from './log/entry-follower.ts'",
      "export { text } from '../codecs/index.ts'",
    ),
  ],
}

const provider: Recipe = {
  folder: 'provider',
  tests: [{ file: 'test/providers/shelf.recipe.ts' }],
  entries: [
    enter(
      'src/providers/registry.ts',
      "import { shmProvider } from './shm/provider.ts'",
      "import { shelfProvider } from './shelf/provider.ts'",
    ),
    change(
      'src/providers/registry.ts',
      'const providers: readonly Provider[] = [shmProvider, ibverbsProvider, simProvider, tcpProvider]',
      'const providers: readonly Provider[] = [shmProvider, ibverbsProvider, simProvider, tcpProvider, shelfProvider]',
    ),
  ],
}

const protocol: Recipe = {
  folder: 'coherence-protocol',
  tests: [{ file: 'test/dsm/coherence/single.recipe.ts' }],
  entries: [
    enter(
      'src/dsm/coherence/known-protocols.ts',
      "import { token } from './protocols/token.ts'",
      "import { single } from './protocols/single.ts'",
    ),
    change(
      'src/dsm/coherence/known-protocols.ts',
      'const all: readonly Protocol[] = [mesi, moesi, directory, token]',
      'const all: readonly Protocol[] = [mesi, moesi, directory, token, single]',
    ),
    change(
      'src/dsm/coherence.ts',
      "export type CoherenceKind = 'hardware' | 'mesi' | 'moesi' | 'directory' | 'token'",
      "export type CoherenceKind = 'hardware' | 'mesi' | 'moesi' | 'directory' | 'token' | 'single'",
    ),
    enter('src/dsm/coherence.ts', '  token: 5,', '  single: 6,'),
  ],
}

export const recipes: readonly Recipe[] = [protocol, provider, structure, collective, codec]
