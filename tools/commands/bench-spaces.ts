import { accessSync, constants, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { formatBytes, UsageError } from 'aether-dsm/internal/cli'
import { parseSize } from 'aether-dsm/internal/dsm'
import { ArgumentError } from 'aether-dsm/internal/native'
import { spacesKind } from '../bench/results/spaces-kind.ts'
import {
  benchSpaces,
  DEFAULT_SPACES_BYTES,
  DEFAULT_SPACES_TIME_MS,
  type SpacesBenchOptions,
} from '../bench/spaces/spaces.ts'
import { type BenchOption, type BenchValues, millisecondsOf, peersOf } from './bench-options.ts'
import { type PreparedBench, prepareBench } from './bench-run.ts'

const SIZE_MIN: number = 2 ** 20
/** Structures have 4 GiB at most. */
const SIZE_MAX: number = 1.5 * 2 ** 30

export const spacesTakes: readonly BenchOption[] = ['size', 'directory', 'time-ms', 'peers']

/** `aether bench spaces`. @throws UsageError */
export function spacesBenchOf(values: BenchValues): PreparedBench {
  return spacesBench({
    sizeBytes: sizeOf(values.size),
    directory: directoryOf(values.directory),
    timeMs: millisecondsOf('time-ms', values['time-ms'], DEFAULT_SPACES_TIME_MS),
    peers: peersOf(values.peers),
  })
}

function sizeOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_SPACES_BYTES
  try {
    const bytes = parseSize(text, '--size')
    if (bytes >= SIZE_MIN && bytes <= SIZE_MAX) return bytes
  } catch (error) {
    if (error instanceof ArgumentError) throw new UsageError(error.message, 'bench')
    throw error
  }
  throw new UsageError(`--size takes ${formatBytes(SIZE_MIN)} to ${formatBytes(SIZE_MAX)}, not '${text}'`, 'bench')
}

function directoryOf(text: string | undefined): string {
  if (text === undefined) return tmpdir()
  const isDirectory = statSync(text, { throwIfNoEntry: false })?.isDirectory() === true
  if (!isDirectory) throw new UsageError(`--directory takes a directory that is there, not '${text}'`, 'bench')
  try {
    accessSync(text, constants.W_OK)
    return text
  } catch {
    throw new UsageError(`--directory takes a directory to which you may write, not '${text}'`, 'bench')
  }
}

export function spacesBench(options: SpacesBenchOptions): PreparedBench {
  const { sizeBytes = DEFAULT_SPACES_BYTES } = options
  return prepareBench({
    name: 'spaces',
    kind: spacesKind,
    about: `stores of ${formatBytes(sizeBytes)} each, four at a time: in memory, on tmpfs, and in files on a disk`,
    measure: ({ progress, missing }) => benchSpaces({ ...options, onProgress: progress, onMissing: missing }),
  })
}
