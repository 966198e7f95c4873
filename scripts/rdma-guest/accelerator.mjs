/** Whether this machine's own processor runs the guests (kvm), or one is emulated (tcg). */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findTool } from './requirements.mjs'

const PROBE_TIMEOUT_MS = 5000
/** What qemu ends with when the probe writes 0x10 to the exit port. */
const PROBE_STATUS = (0x10 << 1) | 1
const EXIT_PORT = 0xf4

/**
 * An emulated processor, without what costs it more than it saves: copying byte by byte (erms), a block of instructions
 * ended around each copy from and to a program (smap), and a fifth level of page tables (la57).
 */
const EMULATED = ['-accel', 'tcg,thread=multi', '-cpu', 'max,erms=off,smap=off,la57=off']
/**
 * Pages are not cleared before they are cleared for a program, and the counter of cycles may be the clock, though there
 * are two emulated processors. What each of the two saves was not measured apart.
 */
const EMULATED_KERNEL = 'init_on_alloc=0 tsc=reliable'

/** Emulated, a guest needs far longer for the same work. */
export const isEmulated = (accelerator) => accelerator.includes('tcg,thread=multi')

/** Words for the kernel's command line. */
export const kernelOptions = (accelerator) => (isEmulated(accelerator) ? EMULATED_KERNEL : '')

/** Options of qemu. AETHER_RDMA_ACCELERATOR=kvm or tcg takes the decision away from us. */
export function acceleratorOptions(folder) {
  const kvm = ['-accel', 'kvm', '-cpu', 'host']
  const wanted = process.env.AETHER_RDMA_ACCELERATOR
  if (wanted !== undefined) return wanted === 'kvm' ? kvm : EMULATED
  return isKvmOffered() && runsProbe(folder, kvm) ? kvm : EMULATED
}

function isKvmOffered() {
  try {
    accessSync('/dev/kvm', constants.R_OK | constants.W_OK)
    return /^flags\s*:.*\b(vmx|svm)\b/m.test(readFileSync('/proc/cpuinfo', 'utf8'))
  } catch {
    return false
  }
}

/**
 * That the device can be opened proves little inside another virtual machine. Here a boot sector of two instructions
 * has to run.
 */
function runsProbe(folder, options) {
  const sector = Buffer.alloc(512)
  Buffer.from([0xb0, 0x10, 0xe6, EXIT_PORT, 0xf4]).copy(sector) // mov al, 0x10; out 0xf4, al; hlt
  sector.writeUInt16LE(0xaa55, 510)
  const image = join(folder, 'probe')
  writeFileSync(image, sector)
  const run = spawnSync(
    findTool('qemu-system-x86_64'),
    [
      ...['-machine', 'pc', ...options, '-m', '64', '-nodefaults', '-display', 'none', '-no-reboot'],
      ...['-drive', `file=${image},format=raw,if=floppy`, '-boot', 'a'],
      ...['-device', `isa-debug-exit,iobase=${EXIT_PORT},iosize=4`],
    ],
    { stdio: 'ignore', timeout: PROBE_TIMEOUT_MS, killSignal: 'SIGKILL' },
  )
  return run.status === PROBE_STATUS
}
