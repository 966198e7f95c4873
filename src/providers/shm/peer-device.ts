import { closeSync, constants, openSync } from 'node:fs'
import { AetherError, isEnding, native } from '../../native/index.ts'
import { Errno, VerbsError } from '../errors.ts'
import type { Gid } from '../gid.ts'
import { keyIndex } from '../soft/keys.ts'
import { decodeGid, type SegmentLocation } from './gid.ts'
import {
  BlockWord,
  blockGeometry,
  DIRECTORY_WORDS,
  DirectoryWord,
  FIXED_BYTES,
  HeaderWord,
  KEY_WORDS,
  KeyKind,
  KeyWord,
  MAX_COMPLETION_QUEUES,
  MAX_QUEUE_PAIRS,
  PAGE_BYTES,
  QUEUE_WORDS,
  QueueWord,
  SEGMENT_MAGIC,
  SEGMENT_VERSION,
  SegmentState,
} from './layout.ts'
import type { OwnDevice } from './own-device.ts'
import { claimedGeometry, PairBlock } from './pair-block.ts'
import { pipeInode } from './pipe.ts'
import { deriveMemory, isCurrent, openRemoteMemory, RemoteMemory, readClaim } from './remote-memory.ts'
import { type FixedViews, fixedViews } from './segment.ts'
import { SharedTarget } from './shared-target.ts'
import { Visit } from './visitors.ts'

const GID_IS_SILENT =
  'the gid does not answer: its process ended or closed the device, belongs to another user, is in another pid namespace, or the gid is not of this machine; between containers use a tcp device, or give them one pid namespace'

/** From the word of a key to its generation. */
const GENERATION = KeyWord.Generation - KeyWord.Key

interface PeeringDevice extends OwnDevice {
  /** A process ended. */
  peerDied(): void
}

/**
 * A peer's device as this device sees it: its tables, its memory, its doorbells, and whether its process lives. The
 * queue pairs that are connected to it hold it.
 */
export class PeerDevice {
  readonly gid: Gid
  readonly processId: number
  readonly views: FixedViews
  /** Not 0 once its process has ended. The watcher thread stores it, so that a spinning thread sees it. */
  readonly death: Int32Array
  readonly #device: PeeringDevice
  readonly #keys: Int32Array
  readonly #mapping: ArrayBuffer | undefined
  readonly #descriptor: number
  readonly #process: number
  readonly #token: number
  readonly #memories: (RemoteMemory | undefined)[] = []
  /**
   * Windows and indirect keys, which reuse a key. They are kept apart, so that users of regions do not pay for that
   * check.
   */
  readonly #derived = new Map<number, RemoteMemory>()
  readonly #doorbells = new Map<number, number>()
  readonly #sharedTargets = new Map<number, SharedTarget>()
  #visit: Visit | undefined
  #users = 0

  private constructor(device: PeeringDevice, gid: Gid, opened: OpenedSegment) {
    this.#device = device
    this.gid = gid
    this.processId = opened.processId
    this.views = opened.views
    this.#keys = opened.views.keys
    this.#mapping = opened.mapping
    this.#descriptor = opened.descriptor
    this.#process = opened.process
    this.death = new Int32Array(new SharedArrayBuffer(64))
    this.#token = opened.process < 0 ? -1 : device.watch.add(opened.process, () => device.peerDied(), this.death)
  }

  /** The device of `gid`. ETIMEDOUT if it does not answer, as a real device reports a gid that no port has. */
  static open(device: PeeringDevice, gid: Gid): PeerDevice {
    if (gid === device.gid) {
      const { segment } = device
      return new PeerDevice(device, gid, {
        processId: process.pid,
        views: segment,
        mapping: undefined,
        descriptor: segment.descriptor,
        process: -1,
      })
    }
    const location = decodeGid(gid)
    const opened = location === undefined ? undefined : openSegment(location)
    if (opened === undefined) {
      throw new VerbsError('ibv_modify_qp', Errno.ETIMEDOUT, GID_IS_SILENT)
    }
    return new PeerDevice(device, gid, opened)
  }

  /** True for this device itself: everything is here. */
  get isSelf(): boolean {
    return this.#mapping === undefined
  }

  /** True if the peer has a queue pair of that number now. */
  has(number: number): boolean {
    return (
      Atomics.load(this.views.directory, (number & (MAX_QUEUE_PAIRS - 1)) * DIRECTORY_WORDS + DirectoryWord.Number) ===
      number
    )
  }

  /** Like `dead`, by a plain load. It may be late, and is for callers that look again soon. */
  get died(): boolean {
    return this.death[0] !== 0
  }

  get dead(): boolean {
    return Atomics.load(this.death, 0) !== 0
  }

  /** Something about the peer failed. Check if its process is ending, which its pidfd reports only later. */
  lookForEnd(): boolean {
    if (!this.dead && isEnding(this.processId)) Atomics.store(this.death, 0, 1)
    return this.dead
  }

  /** True if it ended or closed its device. */
  get gone(): boolean {
    return this.dead || Atomics.load(this.views.header, HeaderWord.State) !== SegmentState.Open
  }

  acquire(): this {
    this.#users += 1
    return this
  }

  /** Returns true if it has no users left; it has then closed itself. */
  release(): boolean {
    this.#users -= 1
    if (this.#users > 0) return false
    this.#close()
    return true
  }

  /**
   * The memory of a key, or undefined if there is none (any more). Call it between entering and leaving the peer's
   * block.
   */
  memory(key: number): RemoteMemory | undefined {
    const index = keyIndex(key)
    const known = this.#memories[index]
    // A plain load is enough: the atomic load of the state word in `enter` comes before it, and revoking waits until we
    // leave. Keys are random, so a reused entry may get a key that it had before. The generation tells the two apart.
    // It lies in the key's own cache line.
    if (
      known !== undefined &&
      known.key === key &&
      this.#keys[known.word] === (key | 0) &&
      this.#keys[known.word + GENERATION] === known.generation
    )
      return known
    return this.#resolve(index, key)
  }

  /**
   * Revoke a key of the owner's: a window of type 2 that was bound through the queue pair `pairNumber`. The caller is
   * inside that connection, so no other sender can be using the key. Returns false if it is not such a key.
   */
  invalidate(key: number, pairNumber: number, domainId: number): boolean {
    const memory = this.memory(key)
    if (memory?.derivation?.kind !== KeyKind.Window || memory.derivation.queuePair !== pairNumber) return false
    if (memory.domainId !== domainId) return false
    return Atomics.compareExchange(this.views.keys, memory.word, key | 0, 0) === (key | 0)
  }

  /** Map the block of a queue pair; undefined if the peer has none of that number. */
  openBlock(number: number): PairBlock | undefined {
    const at = (number & (MAX_QUEUE_PAIRS - 1)) * DIRECTORY_WORDS
    const { directory } = this.views
    if (!this.has(number)) return undefined
    const first = directory[at + DirectoryWord.FirstPage]!
    const pages = directory[at + DirectoryWord.Pages]!
    if (first < FIXED_BYTES / PAGE_BYTES || pages < 1 || pages > MAX_BLOCK_PAGES) return undefined
    if ((first + pages) * PAGE_BYTES > native.describeMemory(this.#descriptor).lengthBytes) return undefined
    const buffer = native.mapMemory(this.#descriptor, first * PAGE_BYTES, pages * PAGE_BYTES, 0)
    const words = new Int32Array(buffer, 0, PAGE_BYTES / 4)
    const geometry = words[BlockWord.Number] === number ? claimedGeometry(words, pages) : undefined
    if (geometry !== undefined) return new PairBlock(buffer, geometry)
    native.unmapMemory(buffer)
    return undefined
  }

  /** This device's entry among the peer's visitors. Undefined if all are taken; the peer is then asked to sweep. */
  visit(): Visit | undefined {
    this.#visit ??= Visit.open(this.views)
    if (this.#visit === undefined) this.ring()
    return this.#visit
  }

  /** A block that many send to. It is kept as long as the peer, since datagrams come and go. */
  sharedTarget(number: number, kind: number): SharedTarget {
    const known = this.#sharedTargets.get(number)
    if (known !== undefined && known.kind === kind) return known
    known?.close()
    const target = new SharedTarget(this, number, kind)
    this.#sharedTargets.set(number, target)
    return target
  }

  closeBlock(block: PairBlock): void {
    native.unmapMemory(block.buffer)
  }

  /**
   * Tell the peer that a receive completion was published for its completion queue `index`: count it, and wake the peer
   * if the queue is armed.
   */
  announce(index: number, solicited: boolean): void {
    const { queues } = this.views
    if (index < 0 || index >= MAX_COMPLETION_QUEUES) return
    const at = index * QUEUE_WORDS
    Atomics.add(queues, at + QueueWord.Arrivals, 1)
    const armed = Atomics.load(queues, at + QueueWord.Armed)
    if (armed === 0 || (!solicited && queues[at + QueueWord.SolicitedOnly] === 1)) return
    // Ring first, then disarm: if this process is killed in between, the owner gets one event too many instead of none.
    this.#ringDescriptor(queues[at + QueueWord.Channel]! - 1, queues[at + QueueWord.ChannelInode]!)
    Atomics.compareExchange(queues, at + QueueWord.Armed, armed, 0)
  }

  /** Wake the peer's device: it has work that could not continue. */
  ring(): void {
    const { header } = this.views
    this.#ringDescriptor(header[HeaderWord.Doorbell]!, header[HeaderWord.DoorbellInode]!)
  }

  #ringDescriptor(theirs: number, inode: number): void {
    if (theirs < 0 || this.dead) return
    const known = this.#doorbells.get(theirs)
    const descriptor = known ?? this.#openDoorbell(theirs, inode)
    if (descriptor < 0 || native.ringPipe(descriptor) === 0 || known === undefined) return
    // That pipe has no reader any more: the number may mean another one by now.
    closeSync(known)
    this.#doorbells.delete(theirs)
    const fresh = this.#openDoorbell(theirs, inode)
    if (fresh >= 0) native.ringPipe(fresh)
  }

  /**
   * Returns -1 if the number does not mean that pipe (any more): a byte must not end up in another file of the peer's.
   */
  #openDoorbell(theirs: number, inode: number): number {
    try {
      const descriptor = openSync(`/proc/${this.processId}/fd/${theirs}`, constants.O_WRONLY | constants.O_NONBLOCK)
      if (pipeInode(descriptor) === inode) {
        this.#doorbells.set(theirs, descriptor)
        return descriptor
      }
      closeSync(descriptor)
    } catch {
      // Gone in the meantime: its death is reported elsewhere.
    }
    return -1
  }

  #resolve(index: number, key: number): RemoteMemory | undefined {
    const word = index * KEY_WORDS + KeyWord.Key
    const derived = this.#derived.get(index)
    if (derived?.key === key && this.#keys[word] === (key | 0) && isCurrent(this.views, derived)) return derived
    this.#memories[index]?.close()
    this.#memories[index] = undefined
    this.#derived.delete(index)
    const claim = readClaim(this.views, index, key)
    if (claim === undefined) return undefined
    if (claim.kind !== KeyKind.Region) {
      const memory = deriveMemory(word, key, claim, this.#descriptor)
      if (memory !== undefined) this.#derived.set(index, memory)
      return memory
    }
    const own = this.isSelf ? this.#device.keys.find(key) : undefined
    const memory =
      own === undefined
        ? openRemoteMemory(this.processId, word, key, claim)
        : new RemoteMemory(key, word, claim, own.span, undefined, undefined)
    this.#memories[index] = memory
    return memory
  }

  #close(): void {
    for (const target of this.#sharedTargets.values()) target.close()
    this.#visit?.close()
    for (const memory of this.#memories) memory?.close()
    for (const descriptor of this.#doorbells.values()) closeSync(descriptor)
    if (this.#token >= 0) this.#device.watch.remove(this.#token)
    if (this.#process >= 0) native.closeDescriptor(this.#process)
    if (this.#mapping === undefined) return
    native.unmapMemory(this.#mapping)
    closeSync(this.#descriptor)
  }
}

const MAX_BLOCK_PAGES: number = blockGeometry(1 << 16, 32).pages

interface OpenedSegment {
  readonly processId: number
  readonly views: FixedViews
  readonly mapping: ArrayBuffer | undefined
  readonly descriptor: number
  /** pidfd */
  readonly process: number
}

/**
 * A pidfd holds the process before its descriptor is used, so a reused process id does no harm: the nonce would differ.
 * What node:fs opened must be closed by node:fs. A Worker closes at its end what it still lists, and a number that was
 * closed behind its back may belong to another file by then.
 */
function openSegment(location: SegmentLocation): OpenedSegment | undefined {
  const { processId } = location
  let processDescriptor = -1
  let descriptor = -1
  let mapping: ArrayBuffer | undefined
  try {
    processDescriptor = native.openProcess(processId)
    descriptor = openSync(`/proc/${processId}/fd/${location.descriptor}`, 'r+')
    const { lengthBytes, userId, shrinkable } = native.describeMemory(descriptor)
    if (userId === process.geteuid?.() && lengthBytes >= FIXED_BYTES && !shrinkable) {
      mapping = native.mapMemory(descriptor, 0, FIXED_BYTES, 0)
      const views = fixedViews(mapping)
      if (matches(views.header, location)) return { processId, views, mapping, descriptor, process: processDescriptor }
    }
  } catch (error) {
    if (!(error instanceof AetherError) && (error as NodeJS.ErrnoException).errno === undefined) throw error
  }
  if (mapping !== undefined) native.unmapMemory(mapping)
  if (descriptor >= 0) closeSync(descriptor)
  if (processDescriptor >= 0) native.closeDescriptor(processDescriptor)
  return undefined
}

function matches(header: Int32Array, location: SegmentLocation): boolean {
  return (
    Atomics.load(header, HeaderWord.Magic) === SEGMENT_MAGIC &&
    header[HeaderWord.Version] === SEGMENT_VERSION &&
    header[HeaderWord.NonceLow] === (location.nonceLow | 0) &&
    header[HeaderWord.NonceHigh] === (location.nonceHigh | 0) &&
    header[HeaderWord.ProcessId] === location.processId &&
    header[HeaderWord.State] === SegmentState.Open
  )
}
