import assert from 'node:assert/strict'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { resources, runOnHosts } from './support/guest-hosts.ts'

const counter = fileURLToPath(new URL('./fixtures/replicated-counter.js', import.meta.url))
const PATIENCE_MS = 400_000

for (const protocol of ['auto', 'velos', 'mu', 'mixed'])
  test(`a machine is replicated over a real device by ${protocol}; its leader is killed, and no answer is lost`, () =>
    survives(protocol))

async function survives(protocol: string): Promise<void> {
  const before = resources()
  using program = runOnHosts(['a', 'b', 'c'], '--on-failure', 'continue', counter, protocol)
  const leader = (await program.until(/\[\d\] leader (\d)/, PATIENCE_MS))[1]!
  const processId = (await program.until(new RegExp(`\\[${leader}\\] process (\\d+)`), PATIENCE_MS))[1]
  for (const rank of ['0', '1', '2']) await program.until(new RegExp(`\\[${rank}\\] leader ${leader}`), PATIENCE_MS)
  if (protocol === 'auto') assert.match((await program.until(/process \d+ (\w+)/, PATIENCE_MS))[1]!, /^(mu|velos)$/)
  process.kill(Number(processId), 'SIGKILL')
  const { status, output } = await program.finished(PATIENCE_MS)
  assert.equal(status, 137, output)
  for (const rank of ['0', '1', '2']) {
    assert.match(output, new RegExp(`\\[${rank}\\] first: 120`))
    if (rank !== leader) assert.match(output, new RegExp(`\\[${rank}\\] then: 200`), output)
  }
  assert.match(output, /\] took over in \d+ ms/)
  assert.deepEqual(resources(), before)
}
