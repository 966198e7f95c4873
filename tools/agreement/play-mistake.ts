import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { MistakeReport } from '../simulation/replicas/mistake-worker.ts'
import type { AgreementMistakeTask } from './mistake-worker.ts'

/** Plays up to `seeds` seeds with a mistake, in a thread whose modules have it. */
export async function playAgreementMistake(task: AgreementMistakeTask): Promise<MistakeReport> {
  const worker = new Worker(new URL('./mistake-worker.js', import.meta.url), { workerData: task })
  const [report] = (await once(worker, 'message')) as [MistakeReport]
  await worker.terminate()
  return report
}
