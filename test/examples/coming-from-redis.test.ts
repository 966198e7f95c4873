import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import test from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { openDoor, openRedis } from '../redis-door/support/door.ts'
import { root } from '../repository/checkout.ts'

useRuntimeDirectory()

const played = `log in first
welcome welcome
{"name":"ada","visits":1,"score":5}
{"name":"eve","visits":1,"score":6}
{"name":"ada","visits":2,"score":12}
{"name":"eve","visits":2,"score":14}
{"name":"ada","visits":3,"score":13}
{"name":"eve","visits":3,"score":16}
{"scores":["eve","16","ada","13"],"games":6}
`

async function play(port: number): Promise<string> {
  const script = join(root, 'dist/examples/coming-from-redis/main.js')
  const child = spawn(process.execPath, [script, `redis://127.0.0.1:${port}`], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  await once(child, 'close')
  return printed
}

/** A port that leads to a socket of this machine, so that no port has to be free by chance. */
async function portTo(socket: string): Promise<Server> {
  const server = createServer((client) => {
    const behind = connect(socket)
    for (const each of [client, behind]) each.on('error', () => undefined)
    client.pipe(behind).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

test('a web service on Redis answers the same on an index', { timeout: 60_000 }, async () => {
  await using door = await openDoor()
  assert.equal(await play(door.port), played)
  await using redis = await openRedis()
  const front = await portTo(redis.socket)
  try {
    assert.equal(await play((front.address() as AddressInfo).port), played)
  } finally {
    front.close()
  }
})
