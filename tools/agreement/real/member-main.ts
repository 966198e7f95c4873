/** A process or a memory of `aether agreement --real`. It is told its plan first, and ends with its parent. */
import { once } from 'node:events'
import { algorithms, graphAlgorithms } from '../algorithms.ts'
import type { Algorithm } from '../model/algorithm.ts'
import { PublicKeys } from './identity.ts'
import { MemoryHost } from './memory-host.ts'
import { memoryLayout } from './memory-layout.ts'
import type { MemberPlan, MemberTask, MemberTells, MemoryPlan, ProcessPlan } from './plan.ts'
import { ProcessRunner } from './process-runner.ts'

function tell(tells: MemberTells, done: () => void = () => undefined): void {
  if (process.connected) process.send!(tells, undefined, undefined, done)
}

function fail(error: unknown): void {
  tell({ tell: 'failed', message: error instanceof Error ? error.message : String(error) }, () => process.exit(1))
}

async function serveMemory(algorithm: Algorithm, plan: MemoryPlan): Promise<void> {
  const { memory, setting, rounds, publicKeys, device, address } = plan
  const layout = memoryLayout(algorithm, setting, memory, rounds)
  const host = new MemoryHost(memory, layout, new PublicKeys(publicKeys), fail)
  tell({ tell: 'listening', port: await host.listen({ device, address }) })
}

async function runProcess(algorithm: Algorithm, plan: ProcessPlan): Promise<void> {
  const runner = new ProcessRunner(plan, algorithm, tell)
  process.on('message', (task: MemberTask) => {
    if (task.do === 'begin') runner.begin(task.round, task.startedAt)
    else runner.connect(task.processes, task.memories).then(() => tell({ tell: 'connected' }), fail)
  })
  tell({ tell: 'listening', port: await runner.listen() })
}

process.on('disconnect', () => process.exit())
process.on('uncaughtException', fail)
// The parent may have ended while this program was being loaded.
if (!process.connected) process.exit()
const [plan] = (await once(process, 'message')) as [MemberPlan]
const algorithm = [...algorithms, ...graphAlgorithms].find(({ name }) => name === plan.algorithm)!
await (plan.role === 'memory' ? serveMemory(algorithm, plan) : runProcess(algorithm, plan)).catch(fail)
