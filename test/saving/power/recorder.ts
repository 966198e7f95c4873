/**
 * What a process asks of the disk for the files below a folder, call by call. Import this first: it wraps the functions
 * of `node:fs` before other modules take them.
 */
import fs, { type PathLike } from 'node:fs'
import type { FileHandle, FileHandle as Handle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname } from 'node:path'
import { type Operation, SECTOR_BYTES } from './model.ts'

/** Parts of an arena that matter: all but the areas of profiling. */
const CONTROL_END = 0x400000
const EXTENTS = 0x4000000
const PAGE_BYTES = 4096

interface Node {
  readonly id: number
  /** Of an arena: it is lengthened by the addon. */
  size: number
  /** As far as the model knows them. */
  known: Buffer
}

let current: Recorder | undefined

/** Records from now on, until {@link Recorder.stop}. One at a time. */
export class Recorder {
  readonly operations: Operation[] = []
  readonly #root: string
  /** The names as they are. */
  readonly #nodes = new Map<string, Node>()
  readonly #descriptors = new Map<number, string>()
  #ids = 0
  #isBusy = false

  constructor(root: string) {
    if (current !== undefined) throw new Error('another recorder is at work')
    current = this
    this.#root = root
  }

  stop(): void {
    this.look()
    current = undefined
  }

  /** How many calls there have been. */
  get length(): number {
    return this.operations.length
  }

  /** A file that is there already, all of it on the disk. */
  adopt(path: string): void {
    const node = this.#node(path)
    if (isArena(path)) this.#differences(path, node)
    else node.known = fs.readFileSync(path)
    for (let at = 0; at < node.known.length; at += SECTOR_BYTES)
      if (!isArena(path))
        this.#add({ type: 'data', file: node.id, at, bytes: node.known.subarray(at, at + SECTOR_BYTES) })
    if (!isArena(path)) this.#add({ type: 'size', file: node.id, length: node.known.length })
    this.#add({ type: 'name', path, file: node.id })
    this.#add({ type: 'sync', file: node.id }, { type: 'sync names', directory: dirname(path) })
  }

  /** A directory that is there already. */
  adoptDirectory(path: string): void {
    this.#add({ type: 'directory', path }, { type: 'sync names', directory: dirname(path) })
  }

  /** What was stored into mapped memory since the last look. */
  look(): void {
    for (const [path, node] of this.#nodes) if (isArena(path)) this.#differences(path, node)
  }

  opened(path: string, descriptor: number, wasThere: boolean): void {
    this.#descriptors.set(descriptor, path)
    if (wasThere || this.#nodes.has(path) || fs.fstatSync(descriptor).isDirectory()) return
    this.#add({ type: 'name', path, file: this.#node(path).id })
  }

  closed(descriptor: number): void {
    this.#descriptors.delete(descriptor)
  }

  madeDirectory(path: string): void {
    this.#add({ type: 'directory', path })
  }

  synced(descriptor: number): void {
    const path = this.#descriptors.get(descriptor)
    if (path === undefined) return
    const node = this.#nodes.get(path)
    if (node === undefined) this.#add({ type: 'sync names', directory: path })
    else this.#add({ type: 'sync', file: node.id })
  }

  sized(descriptor: number, length: number): void {
    const node = this.#nodeOf(descriptor)
    if (node === undefined) return
    this.#add({ type: 'size', file: node.id, length })
    node.size = length
    if (length === 0) node.known = Buffer.alloc(0)
  }

  wrote(descriptor: number, bytes: Uint8Array, position: number): void {
    const node = this.#nodeOf(descriptor)
    if (node === undefined || isArena(this.#descriptors.get(descriptor)!)) return
    for (let done = 0; done < bytes.length; ) {
      const count = Math.min(SECTOR_BYTES - ((position + done) % SECTOR_BYTES), bytes.length - done)
      this.#add({
        type: 'data',
        file: node.id,
        at: position + done,
        bytes: Buffer.from(bytes.subarray(done, done + count)),
      })
      done += count
    }
    this.#add({ type: 'grown', file: node.id, length: position + bytes.length })
  }

  renamed(from: string, to: string): void {
    const node = this.#nodes.get(from)
    if (node === undefined) return
    this.#nodes.delete(from)
    this.#nodes.set(to, node)
    for (const [descriptor, path] of this.#descriptors) if (path === from) this.#descriptors.set(descriptor, to)
    this.#add({ type: 'rename', from, to })
  }

  removed(path: string): void {
    this.#nodes.delete(path)
    this.#add({ type: 'remove', path })
  }

  /** Whether a call is about what is recorded, and not one of the recorder's own. */
  isWatched(path: unknown): path is string {
    return !this.#isBusy && typeof path === 'string' && `${path}/`.startsWith(`${this.#root}/`)
  }

  /** Whether the descriptor is of a file that is recorded. */
  isWatchedDescriptor(descriptor: number): boolean {
    return !this.#isBusy && this.#descriptors.has(descriptor)
  }

  #nodeOf(descriptor: number): Node | undefined {
    const path = this.#descriptors.get(descriptor)
    return path === undefined ? undefined : this.#nodes.get(path)
  }

  #node(path: string): Node {
    const node = this.#nodes.get(path) ?? { id: ++this.#ids, size: 0, known: Buffer.alloc(0) }
    this.#nodes.set(path, node)
    return node
  }

  #add(...operations: readonly Operation[]): void {
    this.operations.push(...operations)
  }

  #differences(path: string, node: Node): void {
    this.#isBusy = true
    try {
      const { size } = fs.statSync(path)
      if (size !== node.size) this.#add({ type: 'size', file: node.id, length: size })
      node.size = size
      const now = readArena(path)
      const before = Buffer.alloc(now.length)
      node.known.copy(before)
      for (let page = 0; page < now.length; page += PAGE_BYTES) {
        if (before.compare(now, page, page + PAGE_BYTES, page, page + PAGE_BYTES) === 0) continue
        for (let at = page; at < page + PAGE_BYTES; at += SECTOR_BYTES) {
          const bytes = now.subarray(at, at + SECTOR_BYTES)
          if (before.subarray(at, at + SECTOR_BYTES).equals(bytes)) continue
          const place = at < CONTROL_END ? at : at - CONTROL_END + EXTENTS
          this.#add({ type: 'data', file: node.id, at: place, bytes: Buffer.from(bytes) })
        }
      }
      node.known = now
    } finally {
      this.#isBusy = false
    }
  }
}

function isArena(path: string): boolean {
  return basename(path) === 'aether.arena'
}

/** The parts that matter, one after the other. */
function readArena(path: string): Buffer {
  const file = original.openSync(path, 'r')
  try {
    const { size } = fs.fstatSync(file)
    const bytes = Buffer.alloc(Math.min(size, CONTROL_END) + Math.max(0, size - EXTENTS))
    fs.readSync(file, bytes, 0, Math.min(size, CONTROL_END), 0)
    if (size > EXTENTS) fs.readSync(file, bytes, CONTROL_END, size - EXTENTS, EXTENTS)
    return bytes
  } finally {
    original.closeSync(file)
  }
}

const original = { ...fs, promises: { ...fs.promises } }

/** Before each call, what was stored into memory is looked at: it may be on the disk before. */
function watch(path: PathLike | number, act: (recorder: Recorder) => void): void {
  const recorder = current
  const isMeant =
    recorder !== undefined && (typeof path === 'number' ? recorder.isWatchedDescriptor(path) : recorder.isWatched(path))
  if (!isMeant) return
  recorder.look()
  act(recorder)
}

function wrap<Name extends keyof typeof fs>(name: Name, made: (typeof fs)[Name]): void {
  Object.assign(fs, { [name]: made })
}

wrap('openSync', ((path: PathLike, ...rest: []) => {
  const wasThere = original.existsSync(path)
  const descriptor = original.openSync(path, ...(rest as unknown as [string]))
  if (current?.isWatched(path) === true && !original.fstatSync(descriptor).isFIFO())
    watch(path, (recorder) => recorder.opened(path as string, descriptor, wasThere))
  return descriptor
}) as typeof fs.openSync)
wrap('closeSync', (descriptor) => {
  current?.closed(descriptor)
  original.closeSync(descriptor)
})
wrap('fsyncSync', (descriptor) => {
  watch(descriptor, (recorder) => recorder.synced(descriptor))
  original.fsyncSync(descriptor)
})
wrap('fdatasync', ((descriptor: number, done: (error: NodeJS.ErrnoException | null) => void) => {
  watch(descriptor, (recorder) => recorder.synced(descriptor))
  original.fdatasync(descriptor, done)
}) as typeof fs.fdatasync)
wrap('ftruncateSync', (descriptor, length = 0) => {
  watch(descriptor, (recorder) => recorder.sized(descriptor, length ?? 0))
  original.ftruncateSync(descriptor, length)
})
wrap('mkdirSync', ((path: string, options: fs.MakeDirectoryOptions) => {
  const made = original.mkdirSync(path, options)
  if (made !== undefined) watch(path, (recorder) => recorder.madeDirectory(path))
  return made
}) as typeof fs.mkdirSync)
wrap('renameSync', (from, to) => {
  watch(from, (recorder) => recorder.renamed(from as string, to as string))
  original.renameSync(from, to)
})
wrap('rmSync', (path, options) => {
  watch(path, (recorder) => recorder.removed(path as string))
  original.rmSync(path, options)
})
Object.assign(fs.promises, {
  async open(path: string, ...rest: [string]) {
    const wasThere = original.existsSync(path)
    const file = await original.promises.open(path, ...rest)
    watch(path, (recorder) => recorder.opened(path, file.fd, wasThere))
    return current?.isWatchedDescriptor(file.fd) === true ? wrapHandle(file) : file
  },
  async rename(from: string, to: string) {
    watch(from, (recorder) => recorder.renamed(from, to))
    await original.promises.rename(from, to)
  },
  async unlink(path: string) {
    watch(path, (recorder) => recorder.removed(path))
    await original.promises.unlink(path)
  },
})
syncBuiltinESMExports()

function wrapHandle(file: FileHandle): FileHandle {
  const { fd } = file
  const [write, sync, truncate, close] = [
    file.write.bind(file),
    file.sync.bind(file),
    file.truncate.bind(file),
    file.close.bind(file),
  ]
  return Object.assign(file, {
    write(bytes: Uint8Array, offset: number, length: number, position: number) {
      watch(fd, (recorder) => recorder.wrote(fd, bytes.subarray(offset, offset + length), position))
      return write(bytes, offset, length, position)
    },
    sync() {
      watch(fd, (recorder) => recorder.synced(fd))
      return sync()
    },
    truncate(length: number) {
      watch(fd, (recorder) => recorder.sized(fd, length))
      return truncate(length)
    },
    close() {
      current?.closed(fd)
      return close()
    },
  } as unknown as Partial<Handle>)
}
