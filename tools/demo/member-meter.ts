import type { RegionGroup } from 'aether-dsm'
import type { Profile } from 'aether-dsm/internal/profiling'
import type { MemberReport } from './report-page.ts'

/** What a member has counted of the things that its report gives as differences. */
type MeterReading = Pick<MemberReport, 'faults' | 'pageMs' | 'pagesIn' | 'bytesIn' | 'bytesOut'>

/** Starts counting; calling what it returns tells what happened since. */
export type Meter = () => MeterReading

/** For `mesi`: what the agent of this member has counted in shared memory. */
export function startProtocolMeter(group: RegionGroup): Meter {
  const before = profileOf(group)
  return () => {
    const since = profileOf(group).since(before)
    const pages = (counter: string) => since.total('dsm.pages', counter)
    const waits = since.histogram('dsm.fault')
    return {
      faults: pages('readFaults') + pages('writeFaults'),
      pageMs: waits.p50Ns / 1e6,
      pagesIn: pages('pagesReceived'),
      bytesIn: pages('bytesReceived'),
      bytesOut: pages('bytesSent'),
    }
  }
}

/**
 * The meter for `hardware`. Nothing is sent. The only page faults are those of the kernel, when this process first
 * touches a page that another process has filled.
 */
export function startKernelMeter(): Meter {
  const before = countKernelFaults()
  return () => ({ faults: countKernelFaults() - before, pageMs: 0, pagesIn: 0, bytesIn: 0, bytesOut: 0 })
}

function profileOf(group: RegionGroup): Profile {
  const profile = group.profile(group.rank)
  if (profile === undefined) throw new Error('this rank has no profile of its own')
  return profile
}

function countKernelFaults(): number {
  const { minorPageFault, majorPageFault } = process.resourceUsage()
  return minorPageFault + majorPageFault
}
