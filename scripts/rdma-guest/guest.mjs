/** One guest: its folder, its qemu, and what became of it. */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { kernelOptions } from './accelerator.mjs'
import { atEnd } from './cleanup.mjs'
import { findTool } from './requirements.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const CONSOLE_LINES = 20
const BOOTS_MAX = 3
/** Passed into the guest when set here. */
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'CI', 'NODE_OPTIONS', 'NODE_DEBUG', 'FORCE_COLOR', 'NO_COLOR']

/** The first files of a guest: busybox, init and the modules, as the archive that the kernel unpacks. */
export function makeInitrd(folder, kernel) {
  const tree = join(folder, 'initrd')
  for (const name of ['bin', 'proc', 'sys', 'dev']) mkdirSync(join(tree, name), { recursive: true })
  cpSync(findTool('busybox'), join(tree, 'bin/busybox'))
  cpSync(join(kernel, 'modules'), join(tree, 'modules'), { recursive: true })
  cpSync(join(here, 'init.sh'), join(tree, 'init'))
  execFileSync('chmod', ['755', join(tree, 'init'), join(tree, 'bin/busybox')])
  const path = join(folder, 'initrd.cpio')
  const script = `find . | "${findTool('cpio')}" -o -H newc --quiet > "${path}"`
  execFileSync('sh', ['-c', script], { cwd: tree })
  return path
}

/**
 * Boots one guest and runs the command in it; boots it again where its kernel ended before the command began, as one on
 * an emulated processor does at times that had to wait at the wrong moment.
 * @param plan
 * `{ host, hosts, folder, kernel, initrd, accelerator, processors, command, directory, share, memory, timeoutMs,
 *   onOutput, onDeadBoot, signal }`; `signal` stops it, `onDeadBoot` is told why it is booted again
 * @returns `{ status, reason }`: the command's own exit status, or 124 with the reason why there is none
 */
export async function runGuest(plan) {
  for (let boot = 1; ; boot += 1) {
    const { diedBooting, ...result } = await bootGuest(plan)
    if (!diedBooting || boot === BOOTS_MAX) return result
    plan.onDeadBoot(result.reason)
  }
}

async function bootGuest(plan) {
  const job = join(plan.folder, `host${plan.host}`)
  rmSync(job, { recursive: true, force: true })
  mkdirSync(job)
  cpSync(join(here, 'guest.sh'), join(job, 'guest.sh'))
  writeFileSync(join(job, 'settings'), settings(plan))
  writeFileSync(join(job, 'command'), `cd ${quoted(plan.directory)}\n${plan.command.map(quoted).join(' ')}\n`)

  const qemu = spawn('setpriv', ['--pdeathsig', 'KILL', '--', findTool('qemu-system-x86_64'), ...machine(plan, job)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true, // Ctrl-C reaches us only, and we end it.
  })
  const kill = atEnd(() => qemu.kill('SIGKILL'))
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    qemu.kill('SIGKILL')
  }, plan.timeoutMs)
  plan.signal?.addEventListener('abort', () => qemu.kill('SIGKILL'), { once: true })
  let complaint = ''
  let endedWell = false
  qemu.stdout.on('data', plan.onOutput)
  qemu.stderr.on('data', (text) => {
    complaint = (complaint + text).slice(-4000)
  })
  await new Promise((resolve) => {
    qemu.on('error', (error) => {
      complaint += error.message
      resolve()
    })
    qemu.on('close', (status) => {
      endedWell = status === 0
      resolve()
    })
  })
  clearTimeout(timer)
  kill()
  const result = verdict(job, isLate, plan, complaint)
  return { ...result, diedBooting: result.reason !== undefined && endedWell && !existsSync(join(job, 'ready')) }
}

function verdict(job, isLate, plan, complaint) {
  const answer = existsSync(join(job, 'status')) ? readFileSync(join(job, 'status'), 'utf8').trim() : ''
  if (/^\d+$/.test(answer)) return { status: Number(answer) }
  const seconds = plan.timeoutMs / 1000
  const isUp = existsSync(join(job, 'ready'))
  const end = isLate ? `gave no answer within ${seconds} s and was stopped` : 'ended without an answer'
  const place = isUp ? 'its command was running' : 'its command had not been started'
  const said = [complaint.trim(), consoleTail(join(job, 'console'))].filter((text) => text !== '').join('\n')
  return {
    status: 124,
    reason: `host ${plan.host} ${end}; ${place}.${said === '' ? '' : ` Its console said:\n${said}`}`,
  }
}

function consoleTail(path) {
  if (!existsSync(path)) return ''
  const lines = readFileSync(path, 'latin1').replaceAll('\r', '').trimEnd().split('\n')
  return lines.slice(-CONSOLE_LINES).join('\n')
}

function settings({ host, hosts, share }) {
  const values = {
    AETHER_RDMA_HOST: String(host),
    AETHER_RDMA_HOSTS: String(hosts),
    AETHER_RDMA_ADDRESS: `10.9.0.${host + 1}`,
    AETHER_RDMA_ADDRESS6: `fd09::${host + 1}`,
    AETHER_RDMA_SHARE: share ?? '',
  }
  for (const name of PASSED_ON) if (process.env[name] !== undefined) values[name] = process.env[name]
  for (const [name, value] of Object.entries(process.env)) {
    if (name.startsWith('AETHER_') && !(name in values)) values[name] = value
  }
  return Object.entries(values)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join('')
}

function machine(plan, job) {
  const files = (tag, path, extra = '') => [
    '-virtfs',
    `local,path=${path.replaceAll(',', ',,')},mount_tag=${tag},security_model=none${extra}`,
  ]
  return [
    ...['-machine', 'q35', ...plan.accelerator, '-smp', String(plan.processors), '-m', plan.memory],
    ...[
      '-nodefaults',
      '-display',
      'none',
      '-no-reboot',
      '-kernel',
      join(plan.kernel, 'vmlinuz'),
      '-initrd',
      plan.initrd,
    ],
    // The kernel counts ticks against a loop of its own to see whether the timer works, and panics where an emulated
    // processor had to wait meanwhile.
    ...['-append', `console=ttyS0 quiet panic=-1 mitigations=off no_timer_check ${kernelOptions(plan.accelerator)}`],
    ...['-serial', `file:${join(job, 'console')}`],
    ...['-chardev', 'stdio,id=output,signal=off', '-device', 'virtio-serial'],
    ...['-device', 'virtserialport,chardev=output,name=output'],
    ...files('files', '/', ',readonly=on,multidevs=remap'),
    ...files('job', job),
    ...(plan.share === undefined ? [] : files('share', plan.share)),
    ...(plan.hosts === 2 ? cable(plan) : []),
  ]
}

/**
 * Datagrams between two sockets. Over a stream, Nagle's algorithm and delayed acknowledgements would add 40 ms to a
 * round trip.
 */
function cable({ folder, host }) {
  const end = (number) => join(folder, `cable${number}`)
  const path = `local.type=unix,local.path=${end(host)},remote.type=unix,remote.path=${end(1 - host)}`
  return ['-netdev', `dgram,id=cable,${path}`, '-device', `virtio-net-pci,netdev=cable,mac=52:54:00:09:00:0${host + 1}`]
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`
