/** Mistakes that one may make in a leader election. Each is the real process with one thing wrong. */
import {
  MessageNotices,
  type Notice,
  type NoticeKind,
  type Notices,
  RegisterNotices,
} from '../../../../tools/agreement/graph/notices.ts'
import { omegaFairLossy, omegaReliable } from '../../../../tools/agreement/graph/omega.ts'
import {
  type Candidacy,
  candidacyOf,
  type OmegaOptions,
  OmegaProcess,
} from '../../../../tools/agreement/graph/omega-process.ts'
import type { Algorithm } from '../../../../tools/agreement/model/algorithm.ts'
import type { Acts, Data } from '../../../../tools/agreement/model/process.ts'

export interface ElectionMistake {
  readonly name: string
  readonly algorithm: Algorithm
  /** What shows it, if one looks: seeds, or one of the worlds in which some processes are slow. */
  readonly shownBy: 'seeds' | 'one timely' | 'slow in turns'
}

const withProcess = (algorithm: Algorithm, process: new (options: OmegaOptions) => OmegaProcess): Algorithm => ({
  ...algorithm,
  create: (me, { processes }) => {
    const notices = algorithm === omegaReliable ? new MessageNotices() : new RegisterNotices(me, processes)
    return new process({ me, processes, notices })
  },
})

const withNotices = (noticesOf: (me: number, processes: number) => Notices): Algorithm => ({
  ...omegaFairLossy,
  create: (me, { processes }) => new OmegaProcess({ me, processes, notices: noticesOf(me, processes) }),
})

class ChosenByNumber extends OmegaProcess {
  override isBetter(one: number, _badnessOfOne: number, other: number): boolean {
    return one < other
  }
}

class AccusationIgnored extends OmegaProcess {
  override bearAccusation(from: number, acts: Acts): void {
    this.remind(from, acts)
  }
}

class NeverMorePatient extends OmegaProcess {
  override accuse(process: number, acts: Acts): void {
    super.accuse(process, acts)
    this.patience[process]! -= 1
  }
}

/** Gives notice while its register may still say that it is passive. */
class NoticeBeforeWrite extends OmegaProcess {
  override becomeActive(acts: Acts): void {
    super.becomeActive(acts)
    this.announce(acts)
  }
}

/** Takes an old answer for one to its last look. */
class OldAnswersTaken extends OmegaProcess {
  override see(process: number, _look: number, candidacy: Candidacy | null, acts: Acts): void {
    super.see(process, this.contenders[process]?.look ?? 0, candidacy, acts)
  }
}

class NeverReminds extends OmegaProcess {
  override remind(): void {}
}

class NeverPassive extends OmegaProcess {
  override becomePassive(): void {}
}

class OneHeartbeat extends OmegaProcess {
  override beat(acts: Acts): void {
    if (this.announced) return
    super.beat(acts)
  }
}

/** Writes what the last notice was instead of counting notices. */
class LastNoticeOnly extends RegisterNotices {
  override send(kind: NoticeKind, to: number, acts: Acts): void {
    const register = { region: `notices/${to}/${this.me}`, index: 0 }
    acts.write(
      to,
      register,
      { contend: kind === 'contend' ? 1 : 0, accuse: kind === 'accuse' ? 1 : 0 },
      'notices/write',
    )
    acts.send(to, { look: true })
  }
}

/** Looks only when a message says so. */
class LooksWhenTold extends RegisterNotices {
  override begin(): void {}
}

class NeverReadsContend extends RegisterNotices {
  override newOf(from: number, value: Data): Notice[] {
    return super.newOf(from, value).filter(({ kind }) => kind === 'accuse')
  }
}

export const electionMistakes: readonly ElectionMistake[] = [
  { name: 'chosen by number alone', algorithm: withProcess(omegaReliable, ChosenByNumber), shownBy: 'one timely' },
  { name: 'accusations are ignored', algorithm: withProcess(omegaReliable, AccusationIgnored), shownBy: 'one timely' },
  { name: 'never more patient', algorithm: withProcess(omegaReliable, NeverMorePatient), shownBy: 'slow in turns' },
  { name: 'notice before the write', algorithm: withProcess(omegaReliable, NoticeBeforeWrite), shownBy: 'seeds' },
  { name: 'old answers are taken', algorithm: withProcess(omegaReliable, OldAnswersTaken), shownBy: 'seeds' },
  { name: 'never reminds', algorithm: withProcess(omegaReliable, NeverReminds), shownBy: 'seeds' },
  { name: 'never passive again', algorithm: withProcess(omegaReliable, NeverPassive), shownBy: 'seeds' },
  { name: 'one heartbeat a term', algorithm: withProcess(omegaReliable, OneHeartbeat), shownBy: 'seeds' },
  { name: 'messages that may be lost', algorithm: withNotices(() => new MessageNotices()), shownBy: 'seeds' },
  {
    name: 'the last notice only',
    algorithm: withNotices((me, processes) => new LastNoticeOnly(me, processes)),
    shownBy: 'seeds',
  },
  {
    name: 'looks for notices only when told by a message',
    algorithm: withNotices((me, processes) => new LooksWhenTold(me, processes)),
    shownBy: 'seeds',
  },
  {
    name: 'reads no notices of contenders',
    algorithm: withNotices((me, processes) => new NeverReadsContend(me, processes)),
    shownBy: 'seeds',
  },
]

/** Writes a new badness at once, not with the next heartbeat: that is harmless. */
class WritesBadnessAtOnce extends OmegaProcess {
  override bearAccusation(from: number, acts: Acts): void {
    super.bearAccusation(from, acts)
    const { heartbeat, badness, active } = this
    if (active) acts.write(this.me, candidacyOf(this.me), { heartbeat, badness, active }, 'badness')
  }
}

export const electionCanaries: readonly Omit<ElectionMistake, 'shownBy'>[] = [
  { name: 'writes its badness at once', algorithm: withProcess(omegaReliable, WritesBadnessAtOnce) },
  { name: 'writes its badness at once, lossy', algorithm: withProcess(omegaFairLossy, WritesBadnessAtOnce) },
]
