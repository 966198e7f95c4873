import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { native } from 'aether-dsm/internal/native'
import { answerOf, askProcess } from '../ask-process.ts'
import { endProcesses } from '../end-processes.ts'
import type { DoorPorts, FromIndexNode, NodePlan, NodeStatus, ToIndexNode } from './node-orders.ts'

export interface NodesPlan {
  readonly replicas: number
  /** A folder in it for each node; undefined: logs are in memory. */
  readonly directory?: string
  readonly memoryBytes?: number
  /** Nodes take clients of Redis. */
  readonly hasDoor?: boolean
}

const DEFAULT_MEMORY_BYTES = 2 ** 30

let started = 0

/** A name that no other run has. */
function freshIndexName(): string {
  started += 1
  return `bench-index-${process.pid}-${started}`
}

/** When the processes of nodes had come so far, of the slowest one: nanoseconds since the call. */
export interface NodeStages {
  readonly joinedNs: number
  readonly openedNs: number
}

/** The nodes of one index, each a process of its own. */
export class IndexNodes implements AsyncDisposable {
  readonly name: string
  readonly stages: NodeStages
  /** Where the first node takes clients of Redis. */
  readonly doorPorts: DoorPorts | undefined
  readonly #plan: NodesPlan
  readonly #group: string
  readonly #nodes = new Map<number, ChildProcess>()

  private constructor(name: string, group: string, plan: NodesPlan, opened: readonly OpenedProcess[]) {
    this.name = name
    this.#group = group
    this.#plan = plan
    this.doorPorts = opened[0]?.doorPorts
    for (const { rank, child } of opened) this.#nodes.set(rank, child)
    const latest = (of: (node: OpenedProcess) => number): number => Math.max(...opened.map(of))
    this.stages = { joinedNs: latest(({ joinedNs }) => joinedNs), openedNs: latest(({ openedNs }) => openedNs) }
  }

  /** With the name and the directory of nodes that are gone, these go on with what those had. */
  static async start(plan: NodesPlan, name: string = freshIndexName()): Promise<IndexNodes> {
    const group = freshIndexName()
    const plans = Array.from({ length: plan.replicas }, (_, place) => nodePlan(plan, group, name, place))
    const children = plans.map(startNode)
    try {
      return new IndexNodes(name, group, plan, await Promise.all(children.map(opened)))
    } catch (error) {
      await endProcesses(children)
      throw error
    }
  }

  get ranks(): readonly number[] {
    return [...this.#nodes.keys()]
  }

  /** What a node says, by default any. */
  status(rank: number = this.ranks[0]!): Promise<NodeStatus> {
    const order: ToIndexNode = { kind: 'status' }
    return askProcess<FromIndexNode, 'status'>(this.#nodes.get(rank)!, order, 'status')
  }

  /** SIGKILL for one. Resolves when its process has ended. */
  async kill(rank: number): Promise<void> {
    const child = this.#nodes.get(rank)!
    this.#nodes.delete(rank)
    await endProcesses([child])
  }

  /** SIGKILL for all at once. */
  async killAll(): Promise<void> {
    await Promise.all(this.ranks.map((rank) => this.kill(rank)))
  }

  /** A further one, which takes the place of one that was killed. */
  async add(): Promise<void> {
    const child = startNode(nodePlan(this.#plan, this.#group, this.name, undefined))
    const { rank } = await opened(child).catch(async (error: unknown) => {
      await endProcesses([child])
      throw error
    })
    this.#nodes.set(rank, child)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const order: ToIndexNode = { kind: 'close' }
    // One that has ended does not answer.
    const children = [...this.#nodes.values()].filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    )
    await Promise.all(
      children.map((child) => askProcess<FromIndexNode, 'closed'>(child, order, 'closed').catch(() => {})),
    )
    await endProcesses(children)
  }
}

interface OpenedProcess {
  readonly child: ChildProcess
  readonly rank: number
  readonly joinedNs: number
  readonly openedNs: number
  readonly doorPorts: DoorPorts | undefined
}

async function opened(child: ChildProcess): Promise<OpenedProcess> {
  const began = native.monotonicNs()
  const { rank, joinedNs, openedNs, doorPorts } = await answerOf<FromIndexNode, 'opened'>(child, 'opened')
  return { child, rank, joinedNs: joinedNs - began, openedNs: openedNs - began, doorPorts }
}

function nodePlan(plan: NodesPlan, group: string, name: string, place: number | undefined): NodePlan {
  const { replicas, directory, memoryBytes = DEFAULT_MEMORY_BYTES, hasDoor = false } = plan
  const own = directory === undefined || place === undefined ? undefined : join(directory, `node-${place}`)
  return { group, name, replicas, memoryBytes, directory: own, hasDoor }
}

function startNode(plan: NodePlan): ChildProcess {
  return fork(fileURLToPath(new URL('./node-process.js', import.meta.url)), [JSON.stringify(plan)], {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}
