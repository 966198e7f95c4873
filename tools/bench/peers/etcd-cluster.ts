import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { AetherError } from 'aether-dsm/internal/native'
import { endProgram } from './end-program.ts'
import { freePort } from './free-port.ts'
import { type GrpcPut, putsOverGrpc } from './grpc-package.ts'

/** How rows call it, with its version. */
export function etcdProvider(): string {
  const { stdout } = spawnSync('etcd', ['--version'], { encoding: 'utf8' })
  return `etcd ${/etcd Version: ([\d.]+)/.exec(stdout ?? '')?.[1] ?? ''}`.trimEnd()
}

/** Members of an etcd of this benchmark's own, on loopback. What they keep is in `directory`, and gone with it. */
export class EtcdCluster implements AsyncDisposable {
  readonly #children: readonly ChildProcess[]
  readonly clients: readonly GrpcPut[]

  private constructor(children: readonly ChildProcess[], clients: readonly GrpcPut[]) {
    this.#children = children
    this.clients = clients
  }

  get pids(): readonly number[] {
    return this.#children.map(({ pid }) => pid!)
  }

  /** @throws AetherError where the program is not installed, or does not start. */
  static async start(directory: string, members: number): Promise<EtcdCluster> {
    const ports: (readonly [number, number])[] = []
    for (let member = 0; member < members; member += 1) ports.push([await freePort(), await freePort()])
    const url = (port: number): string => `http://127.0.0.1:${port}`
    const cluster = ports.map(([, peer], member) => `member${member}=${url(peer)}`).join(',')
    const children = ports.map(([client, peer], member) => {
      const own = ['--name', `member${member}`, '--data-dir', join(directory, `member${member}`)]
      const listen = ['--listen-client-urls', url(client), '--advertise-client-urls', url(client)]
      const meet = ['--listen-peer-urls', url(peer), '--initial-advertise-peer-urls', url(peer)]
      const all = [...own, ...listen, ...meet, '--initial-cluster', cluster, '--log-level', 'error']
      return spawn('etcd', all, { stdio: 'ignore' })
    })
    const end = async (): Promise<void> => {
      await Promise.all(children.map((child) => endProgram(child)))
    }
    try {
      await Promise.all(children.map((child) => once(child, 'spawn')))
    } catch (cause) {
      await end()
      throw new AetherError('ERR_AETHER_BENCH', 'etcd is not installed (on Debian: apt-get install etcd-server)', {
        cause,
      })
    }
    try {
      const clients = await Promise.all(ports.map(([client]) => putsOverGrpc(`127.0.0.1:${client}`)))
      return new EtcdCluster(children, clients)
    } catch (error) {
      await end()
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.clients) client.close()
    await Promise.all(this.#children.map((child) => endProgram(child)))
  }
}
