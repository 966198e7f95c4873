/**
 * A web service with its sessions and scores in Redis, or in an index: service.ts is the same for both. Run it after
 * `npm run build`, with a server in another terminal:
 *
 *     npx aether-dsm serve games --port 7000
 *     node dist/examples/coming-from-redis/main.js redis://127.0.0.1:7000
 *
 * Two players log in and play. It prints what the service answers; beside a Redis server it prints the same.
 */
import process from 'node:process'
import { startService } from './service.ts'

const url = process.argv[2] ?? 'redis://127.0.0.1:6379'
const service = await startService(url)

/** A browser, as far as cookies go. */
class Player {
  #cookie = ''

  async post(path: string): Promise<string> {
    const response = await fetch(`${service.address}${path}`, { method: 'POST', headers: { cookie: this.#cookie } })
    this.#cookie = response.headers.get('set-cookie')?.split(';')[0] ?? this.#cookie
    return await response.text()
  }
}

try {
  const [ada, eve] = [new Player(), new Player()]
  console.log(await ada.post('/play/5'))
  console.log(await ada.post('/login/ada'), await eve.post('/login/eve'))
  for (const points of [5, 7, 1]) {
    console.log(await ada.post(`/play/${points}`))
    console.log(await eve.post(`/play/${points + 1}`))
  }
  const scores = await fetch(`${service.address}/scores`)
  console.log(await scores.text())
} finally {
  await service.close()
}
