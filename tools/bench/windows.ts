import type { PreparedRequest } from 'aether-dsm/internal/verbs'
import type { BenchLink } from './link.ts'
import type { Operations } from './measure.ts'
import { WINDOW } from './messages.ts'

/** Windows of {@link WINDOW} requests one after the other: one completion for each, the rest unsignaled. */
export function windowsOf(request: PreparedRequest, link: BenchLink): Operations {
  return (count) => {
    for (let index = 0; index < count; index += 1) {
      request.signaled = false
      for (let posted = 1; posted < WINDOW; posted += 1) request.post(1)
      request.signaled = true
      request.post(2)
      link.finish(1)
    }
  }
}
