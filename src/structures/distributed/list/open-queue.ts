import { fixed, type Parameter } from '../../parameter.ts'
import type { HomeHeap } from '../heap/home-heap.ts'
import type { NewBody } from '../heap/names.ts'
import { WriteCommand } from '../memory/command.ts'
import { GroupQueueCore, queueBytes } from './queue-core.ts'
import { newSegment, writeSegment } from './queue-segment.ts'

/** How a queue is opened. */
export interface QueueRequest {
  readonly name: string
  /** 0: no bound. */
  readonly capacity: number
  readonly codec: Parameter
  readonly segmentBytes: number
}

/** Find a queue at `home`, or make it: its first segment first, so that a rank that finds the queue finds a place. */
export async function openQueue(heap: HomeHeap, request: QueueRequest): Promise<GroupQueueCore> {
  const { name, capacity, codec, segmentBytes } = request
  const memory = heap.on(`queue '${name}'`)
  const { offset } = await heap.names.open({
    kind: 'queue',
    name,
    parameters: [fixed('capacity', capacity), codec],
    makeBody: () => makeBody(heap, segmentBytes),
  })
  return new GroupQueueCore(memory, heap.pool, offset, { capacity, segmentBytes })
}

/** Both ends are at the first place. */
async function makeBody(heap: HomeHeap, segmentBytes: number): Promise<NewBody> {
  const block = await heap.pool.take(segmentBytes)
  const segment = newSegment(block, 0, () => heap.group.random())
  try {
    await heap.on('a new queue').run([new WriteCommand(block.offset, writeSegment(segment))])
  } catch (error) {
    heap.pool.release(block)
    throw error
  }
  const bytes = new Uint8Array(queueBytes(heap.group.ranks))
  const view = new DataView(bytes.buffer)
  for (const at of [0, 8]) view.setBigUint64(at, segment.name, true)
  return {
    bytes,
    made: () => heap.pool.linked(block),
    undo: async () => heap.pool.release(block),
  }
}
