import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from './checkout.ts'

const isHere = process.platform === 'linux' && process.arch === 'x64' && existsSync('/usr/bin/setpriv')
const options = isHere ? {} : { skip: 'guests run on Linux x64 with util-linux only' }

/**
 * A machine on which every tool is a script of ours: qemu does as `qemu` says, with the folder of the guest in $job.
 */
class FakeMachine implements Disposable {
  readonly path: string = mkdtempSync(join(tmpdir(), 'aether-fake-machine-'))
  readonly #environment: NodeJS.ProcessEnv

  constructor(qemu: string) {
    const bin = join(this.path, 'bin')
    const temporary = join(this.path, 'tmp')
    for (const folder of [bin, temporary]) mkdirSync(folder)
    for (const tool of ['busybox', 'depmod', 'modprobe', 'rdma', 'ip', 'tc', 'xz', 'apt-get', 'dpkg-deb']) {
      writeFileSync(join(bin, tool), '#!/bin/sh\n', { mode: 0o755 })
    }
    writeFileSync(join(bin, 'cpio'), '#!/bin/sh\ncat\n', { mode: 0o755 })
    const findJob = `job=$(echo "$@" | sed 's/.*path=\\([^ ]*host[01]\\),.*/\\1/'); echo $$ > "$job/../../$(basename $job).pid"`
    writeFileSync(join(bin, 'qemu-system-x86_64'), `#!/bin/sh\n${findJob}\n${qemu}\n`, { mode: 0o755 })
    this.#environment = {
      ...process.env,
      PATH: `${bin}:${process.env['PATH']}`,
      TMPDIR: temporary,
      AETHER_RDMA_CACHE: join(this.path, 'cache'),
      AETHER_RDMA_ACCELERATOR: 'tcg',
    }
    this.#seedKernel()
  }

  /** The name of the kernel's folder is the module's business: it is asked. */
  #seedKernel(): void {
    const program = `import { kernelFolder } from '${join(root, 'scripts/rdma-guest/kernel.mjs')}'; console.log(kernelFolder())`
    const asked = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      env: this.#environment,
      encoding: 'utf8',
    })
    const folder = asked.stdout.trim()
    mkdirSync(join(folder, 'modules'), { recursive: true })
    writeFileSync(join(folder, 'vmlinuz'), '')
  }

  start(...words: readonly string[]) {
    return spawn(process.execPath, [join(root, 'scripts/rdma-guest.mjs'), ...words], {
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  run(...words: readonly string[]): { status: number | null; stdout: string; stderr: string } {
    return spawnSync(process.execPath, [join(root, 'scripts/rdma-guest.mjs'), ...words], {
      env: this.#environment,
      encoding: 'utf8',
    })
  }

  /** What lies in the temporary folder, the process ids that qemu wrote down aside. */
  leftovers(): string[] {
    return readdirSync(join(this.path, 'tmp')).filter((name) => !name.endsWith('.pid'))
  }

  async qemuPid(host: number): Promise<number> {
    const file = join(this.path, 'tmp', `host${host}.pid`)
    while (!existsSync(file) || readFileSync(file, 'utf8') === '') await sleep(20)
    return Number(readFileSync(file, 'utf8'))
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await sleep(20)
  }
}

test('the status of the first host that failed is passed on, and output carries the host', options, () => {
  using machine = new FakeMachine(
    'echo "this is $(basename $job)"; case $job in *0) echo 0;; *) echo 7;; esac > $job/status',
  )
  const { status, stdout } = machine.run('--hosts', '2', '--', 'true')
  assert.match(stdout, /^h0\| this is host0$/m)
  assert.match(stdout, /^h1\| this is host1$/m)
  assert.equal(status, 7)
  assert.deepEqual(machine.leftovers(), [])
})

test('a host that does not answer is stopped in time, and its console is shown', options, () => {
  using machine = new FakeMachine('echo "Kernel panic: no init" > $job/console; exec sleep 1000')
  const { status, stderr } = machine.run('--timeout', '1', '--', 'true')
  assert.match(stderr, /host 0 gave no answer within 1 s and was stopped; its command had not been started/)
  assert.match(stderr, /Kernel panic: no init/)
  assert.equal(status, 124)
  assert.deepEqual(machine.leftovers(), [])
})

test('a machine that ends without an answer is told from one that is late', options, () => {
  using machine = new FakeMachine('touch $job/ready; echo "no memory" >&2; exit 1')
  const { status, stderr } = machine.run('--', 'true')
  assert.match(stderr, /host 0 ended without an answer; its command was running/)
  assert.match(stderr, /no memory/)
  assert.equal(status, 124)
})

test('a machine whose kernel ends as it boots is booted again, and what its console said is shown', options, () => {
  using machine = new FakeMachine(
    'boots=$job/../../boots; echo x >> $boots; if [ $(wc -l < $boots) = 3 ]; then touch $job/ready; echo 5 > $job/status; else echo "Kernel panic: bad luck" > $job/console; fi',
  )
  const { status, stderr } = machine.run('--', 'true')
  assert.equal(stderr.match(/Kernel panic: bad luck\nrdma-guest: host 0 is booted again/g)?.length, 2)
  assert.equal(status, 5)
})

test('a kernel that ends at each boot is given up', options, () => {
  using machine = new FakeMachine('echo "Kernel panic: no init" > $job/console')
  const { status, stderr } = machine.run('--', 'true')
  assert.equal(stderr.match(/is booted again/g)?.length, 2)
  assert.equal(stderr.match(/its command had not been started/g)?.length, 3)
  assert.equal(status, 124)
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} ends the guests and leaves nothing behind`, options, async () => {
    using machine = new FakeMachine('exec sleep 1000')
    const harness = machine.start('--hosts', '2', '--', 'true')
    const pids = [await machine.qemuPid(0), await machine.qemuPid(1)]
    harness.kill(signal)
    await once(harness, 'exit')
    for (const pid of pids) await untilGone(pid)
    assert.deepEqual(machine.leftovers(), [])
    assert.equal(harness.exitCode, signal === 'SIGINT' ? 130 : 143)
  })
}

test('SIGKILL of the harness takes the guests along, and the next run removes the folder', options, async () => {
  using machine = new FakeMachine('[ -e $TMPDIR/again ] && { echo 0 > $job/status; exit; }; exec sleep 1000')
  const harness = machine.start('--', 'true')
  const pid = await machine.qemuPid(0)
  harness.kill('SIGKILL')
  await once(harness, 'exit')
  await untilGone(pid)
  assert.equal(machine.leftovers().length, 1)
  writeFileSync(join(machine.path, 'tmp/again'), '')
  assert.equal(machine.run('--', 'true').status, 0)
  assert.deepEqual(machine.leftovers(), ['again'])
})

test('a machine without the tools is told which packages to install', options, () => {
  const empty = { ...process.env, PATH: '/nonexistent', AETHER_RDMA_TOOL_FOLDERS: '' }
  const run = (script: string, more: NodeJS.ProcessEnv = {}) =>
    spawnSync(
      process.execPath,
      [join(root, 'scripts', script), ...(script === 'rdma-guest.mjs' ? ['--', 'true'] : [])],
      {
        env: { ...empty, ...more },
        encoding: 'utf8',
      },
    )
  const boot = run('rdma-guest.mjs')
  assert.match(boot.stderr, /apt-get install --no-install-recommends qemu-system-x86 /)
  assert.equal(boot.status, 2)
  const skipped = run('test-rdma.mjs')
  assert.match(skipped.stdout, /^skipped: the tests on real RDMA did not run\. missing here: qemu-system-x86, /)
  assert.equal(skipped.status, 0)
  const required = run('test-rdma.mjs', { AETHER_RDMA_REQUIRED: '1' })
  assert.match(required.stdout, /^failed: /)
  assert.equal(required.status, 1)
})
