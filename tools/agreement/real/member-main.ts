/** A process or a memory of `aether agreement --real`. Its plan is its argument; it ends with its parent. */
import { algorithms, graphAlgorithms } from '../algorithms.ts'
import { PublicKeys } from './identity.ts'
import { MemoryHost } from './memory-host.ts'
import { memoryLayout } from './memory-layout.ts'
import type { MemberPlan, MemberTask, MemberTells, MemoryPlan, ProcessPlan } from './plan.ts'
import { ProcessRunner } from './process-runner.ts'

const plan = JSON.parse(process.argv[2]!) as MemberPlan
const algorithm = [...algorithms, ...graphAlgorithms].find(({ name }) => name === plan.algorithm)!

function tell(tells: MemberTells, done: () => void = () => undefined): void {
  if (process.connected) process.send!(tells, undefined, undefined, done)
}

function fail(error: unknown): void {
  tell({ tell: 'failed', message: error instanceof Error ? error.message : String(error) }, () => process.exit(1))
}

process.on('disconnect', () => process.exit())
process.on('uncaughtException', fail)

async function serveMemory({ memory, setting, rounds, publicKeys, device, address }: MemoryPlan): Promise<void> {
  const host = new MemoryHost(
    memory,
    memoryLayout(algorithm, setting, memory, rounds),
    new PublicKeys(publicKeys),
    fail,
  )
  tell({ tell: 'listening', port: await host.listen({ device, address }) })
}

async function runProcess(processPlan: ProcessPlan): Promise<void> {
  const runner = new ProcessRunner(processPlan, algorithm, tell)
  process.on('message', (task: MemberTask) => {
    if (task.do === 'begin') runner.begin(task.round, task.startedAt)
    else runner.connect(task.processes, task.memories).then(() => tell({ tell: 'connected' }), fail)
  })
  tell({ tell: 'listening', port: await runner.listen() })
}

await (plan.role === 'memory' ? serveMemory(plan) : runProcess(plan)).catch(fail)
