/** `aether serve --seeds`: an index of several machines, as far as programs can tell. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Machines } from '../support/machines.ts'

const skip = Machines.reasonAgainst()
const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const NAME = 'far'

class Serving {
  readonly #child: ChildProcess
  said = ''

  private constructor(child: ChildProcess) {
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) stream!.on('data', (text: Buffer) => (this.said += String(text)))
  }

  static async on(machines: Machines, machine: number): Promise<Serving> {
    const { environment, under } = await machines.place(machine)
    const [command = '', ...words] = [...under, process.execPath, main, 'serve', NAME]
    const args = ['--replicas', '3', '--seeds', machines.seeds.join(), '--secret-file', machines.secretFile]
    return new Serving(spawn(command, [...words, ...args], { env: { ...process.env, ...environment } }))
  }

  async says(pattern: RegExp): Promise<void> {
    for (let look = 0; !pattern.test(this.said); look += 1) {
      assert.ok(look < 3000 && this.#child.exitCode === null, this.said)
      await sleep(10)
    }
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}

test('three machines serve an index; one that starts alone says what it waits for; one that is killed comes back', {
  skip,
}, async () => {
  using machines = new Machines(3)
  machines.networks.unplug(1)
  const first = await Serving.on(machines, 0)
  const others: Serving[] = []
  try {
    await first.says(/waiting: .*10\.77\.0\.2:7471/)
    machines.networks.plug(1)
    for (const machine of [1, 2]) others.push(await Serving.on(machines, machine))
    await Promise.all([first, ...others].map((each) => each.says(/serving index 'far'.*for other machines at 10\.77/)))
    others[0]!.kill()
    others[0] = await Serving.on(machines, 1)
    await others[0].says(/serving index 'far'/)
    const { environment, under } = await machines.place(0)
    const [command = '', ...words] = [...under, process.execPath, main, 'index', 'show', NAME]
    const shown = spawnSync(command, words, {
      env: { ...process.env, ...environment, AETHER_SECRET_FILE: machines.secretFile },
      encoding: 'utf8',
    })
    assert.equal(shown.status, 0, shown.stderr)
    assert.equal(shown.stdout.trimEnd().split('\n').length, 4, shown.stdout)
  } finally {
    for (const each of [first, ...others]) each.kill()
  }
})
