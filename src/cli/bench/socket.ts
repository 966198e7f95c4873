import { rmSync } from 'node:fs'
import { createServer } from 'node:net'

/** A Unix socket at `path` that gives back whatever comes. */
export async function listenEcho(path: string): Promise<void> {
  const server = createServer((socket) => {
    socket.on('data', (data) => socket.write(data))
    socket.on('error', () => {})
  })
  rmSync(path, { force: true })
  await new Promise<void>((resolve) => server.listen(path, resolve))
}
