import { randomBytes } from 'node:crypto'
import { endianness } from 'node:os'
import process from 'node:process'
import { readSecret, SECRET_FILE_VARIABLE } from '../../runtime/index.ts'
import type { RemoteEndpoint } from '../../verbs/index.ts'
import {
  ControlLine,
  type ControlPlace,
  connectionLimits,
  isIndex,
  isRecord,
  type Machine,
  thisMachine,
} from '../hosts/index.ts'
import { MEMBERS_MAX } from '../layout.ts'
import { Membership } from '../membership.ts'
import { chooseDevice, type GroupDevice, hasRdma, inspectDevice } from './device-choice.ts'
import { JoinError } from './errors.ts'
import { decodeGroupCard, encodeGroupCard } from './group-card.ts'
import type { JoinPlan } from './group-options.ts'
import type { Meeting } from './meeting.ts'
import type { RankPeer } from './rank-member.ts'
import type { RendezvousPlace } from './rendezvous-place.ts'

/** Increased whenever ranks of earlier versions would misunderstand present ones. */
const PROTOCOL = 2
/** What is gathered, in order. */
const Round = { Introduction: 0, Card: 1, Connected: 2, Left: 3 } as const
/** How long a rank that has left waits until the others have heard of it. */
const LEAVE_MS_MAX = 10_000

/** A rank's identity, sent before anything else. */
interface Introduction extends Machine {
  readonly protocol: number
  readonly endianness: string
  readonly processId: number
  /** A random name for the group; rank 0's is used. */
  readonly group: string
  /** Whether it has an RDMA device that could be used. */
  readonly rdma: boolean
}

/** How a rank is reached. */
interface Card {
  readonly endpoint: RemoteEndpoint
  readonly linkLayer: string
  readonly mtuBytes: number
  readonly slot: number
  readonly epoch: number
}

/** Ranks of any machines, which meet at a TCP port. Those of one machine share a space. */
export class TcpMeeting implements Meeting {
  readonly membership: Membership
  readonly device: string
  readonly oneMachine: boolean
  readonly ranksHere: number
  readonly #plan: JoinPlan
  readonly #line: ControlLine
  readonly #introductions: readonly Introduction[]
  readonly #device: GroupDevice

  private constructor(
    plan: JoinPlan,
    line: ControlLine,
    introductions: readonly Introduction[],
    device: GroupDevice,
    membership: Membership,
  ) {
    this.#plan = plan
    this.#line = line
    this.#introductions = introductions
    this.device = device.name
    this.#device = device
    this.membership = membership
    const own = introductions[plan.rank]!
    this.ranksHere = introductions.filter((each) => each.space === own.space).length
    this.oneMachine = this.ranksHere === plan.size
  }

  /** @throws SecretError, RendezvousError, MissingMembersError, MemberEndedError, JoinError. */
  static async begin(plan: JoinPlan, place: RendezvousPlace & { readonly kind: 'tcp' }): Promise<TcpMeeting> {
    const { rank, size, timeoutMs, signal } = plan
    const secret = readSecret(plan.secretFile)
    // Devices of this process, in its Workers too, prove to their peers that they know it.
    process.env[SECRET_FILE_VARIABLE] ??= plan.secretFile
    const line = new ControlLine({ ...place, rank, size, timeoutMs, secret, limits: connectionLimits() })
    try {
      const own: Introduction = {
        protocol: PROTOCOL,
        endianness: endianness(),
        processId: process.pid,
        group: randomBytes(8).toString('hex'),
        rdma: hasRdma(),
        ...thisMachine(),
      }
      const values = await line.gather(Round.Introduction, own, signal)
      const introductions = values.map((value, from) => checkIntroduction(value, from))
      const device = inspectDevice(
        chooseDevice(
          plan.device,
          introductions,
          introductions.every(({ rdma }) => rdma),
        ),
        size,
      )
      const membership = await Membership.enter(`run-${introductions[0]!.group}`, { timeoutMs })
      return new TcpMeeting(plan, line, introductions, device, membership)
    } catch (error) {
      await line.close((error as Error).message)
      throw error
    }
  }

  get control(): ControlPlace {
    return this.#line.place
  }

  async exchange(endpoints: readonly RemoteEndpoint[]): Promise<readonly RankPeer[]> {
    const { rank, size, signal } = this.#plan
    const { slot, epoch } = this.membership.self
    const card = Buffer.from(encodeGroupCard({ rank, size, endpoints })).toString('base64')
    const { linkLayer, mtuBytes } = this.#device
    const values = await this.#line.gather(Round.Card, { card, linkLayer, mtuBytes, slot, epoch }, signal)
    const cards = values.map((value, from) => this.#checkCard(value, from))
    const stranger = cards.findIndex((each) => each.linkLayer !== linkLayer)
    if (stranger >= 0) {
      const { linkLayer: other } = cards[stranger]!
      throw new JoinError(
        `the device of rank ${rank} (${this.device}) is ${linkLayer}, that of rank ${stranger} is ${other}; choose devices of one kind`,
      )
    }
    return cards.map((each, from) => this.#peer(from, each)).filter((peer) => peer.rank !== rank)
  }

  async connected(): Promise<void> {
    await this.#line.gather(Round.Connected, null, this.#plan.signal)
  }

  async left(): Promise<void> {
    const signal = AbortSignal.timeout(LEAVE_MS_MAX)
    // A rank that does not hear of it now will take our end for a death, which is harmless by now.
    await this.#line.gather(Round.Left, null, signal).catch(() => {})
  }

  async close(why?: string): Promise<void> {
    await this.membership.close()
    await this.#line.close(why)
  }

  #peer(rank: number, { endpoint, mtuBytes, slot, epoch }: Card): RankPeer {
    const { space, processes, processId, host } = this.#introductions[rank]!
    const own = this.#introductions[this.#plan.rank]!
    const member = space === own.space ? { slot, epoch, processId } : undefined
    return {
      rank,
      processId,
      host,
      member,
      endpoint,
      visible: processes === own.processes,
      pathMtu: Math.min(mtuBytes, this.#device.mtuBytes),
    }
  }

  #checkCard(value: unknown, from: number): Card {
    const { card, linkLayer, mtuBytes, slot, epoch } = isRecord(value) ? value : {}
    const { rank, size } = this.#plan
    const decoded = typeof card === 'string' ? decodeGroupCard(Buffer.from(card, 'base64'), size) : undefined
    if (
      decoded?.rank !== from ||
      typeof linkLayer !== 'string' ||
      !isMtu(mtuBytes) ||
      !isIndex(slot) ||
      !isIndex(epoch) ||
      slot >= MEMBERS_MAX
    )
      throw new JoinError(`rank ${from} sent a malformed card; use the same version of Aether everywhere`)
    return { endpoint: decoded.endpoints[rank]!, linkLayer, mtuBytes, slot, epoch }
  }
}

function checkIntroduction(value: unknown, from: number): Introduction {
  const fields = isRecord(value) ? value : {}
  const { protocol, endianness: order, processId, group, space, processes, host } = fields
  if (protocol !== PROTOCOL)
    throw new JoinError(`rank ${from} is another version of Aether; use the same version everywhere`)
  if (order !== endianness())
    throw new JoinError(`rank ${from} runs on a machine of another byte order; a group cannot mix byte orders`)
  if (
    !isIndex(processId) ||
    !isText(host, /^[^\p{Cc}]{0,255}$/u) ||
    ![group, space, processes].every((text) => isText(text, /^[0-9a-f]{16,64}$/))
  )
    throw new JoinError(`rank ${from} sent an invalid introduction; use the same version of Aether everywhere`)
  return fields as unknown as Introduction
}

function isText(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value)
}

/** The values of ibv_query_port(3). */
function isMtu(value: unknown): value is number {
  return typeof value === 'number' && [256, 512, 1024, 2048, 4096].includes(value)
}
