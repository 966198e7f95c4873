import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

/** Under these names distributions install it. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome']
const CALL_MS_MAX = 60_000

/** Where Chromium is; undefined where it is not on PATH. */
export function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable)
}

interface Answer {
  readonly id?: number
  readonly result?: unknown
  readonly error?: { readonly message: string }
  readonly method?: string
  readonly params?: { readonly exceptionDetails?: { readonly exception?: { readonly description?: string } } }
}

/** A real browser without a window, with one page, driven over the pipe of the DevTools protocol: JSON ended by a zero byte. */
export class Chromium implements AsyncDisposable {
  /** What the page threw and nobody caught. */
  readonly errors: string[] = []
  readonly #child: ChildProcess
  readonly #profile: string
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  #session: string | undefined
  #lastId = 0
  #text = ''

  private constructor(path: string, width: number, height: number) {
    this.#profile = mkdtempSync(join(tmpdir(), 'aether-chromium-'))
    const flags = [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--no-first-run',
      '--hide-scrollbars',
      '--mute-audio',
    ]
    this.#child = spawn(
      path,
      [
        ...flags,
        `--window-size=${width},${height}`,
        `--user-data-dir=${this.#profile}`,
        '--remote-debugging-pipe',
        'about:blank',
      ],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
    )
    ;(this.#child.stdio[4] as Readable).setEncoding('utf8').on('data', (text: string) => this.#take(text))
    this.#child.once('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the browser has ended'))
    })
  }

  /** @throws Error where it does not start. */
  static async start(
    path: string,
    { width = 1440, height = 900 }: { readonly width?: number; readonly height?: number } = {},
  ): Promise<Chromium> {
    const browser = new Chromium(path, width, height)
    const { targetInfos } = (await browser.call('Target.getTargets')) as {
      targetInfos: readonly { readonly type: string; readonly targetId: string }[]
    }
    const target = targetInfos.find(({ type }) => type === 'page')
    const made = target ?? ((await browser.call('Target.createTarget', { url: 'about:blank' })) as { targetId: string })
    const attached = await browser.call('Target.attachToTarget', { targetId: made.targetId, flatten: true })
    browser.#session = (attached as { sessionId: string }).sessionId
    await browser.call('Runtime.enable')
    await browser.call('Page.enable')
    await browser.call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })
    return browser
  }

  async goTo(url: string): Promise<void> {
    await this.call('Page.navigate', { url })
  }

  /** The value of an expression in the page; a promise is awaited. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = (await this.call('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    })) as {
      result: { value: T }
      exceptionDetails?: { exception?: { description?: string } }
    }
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? 'the page threw')
    return result.value
  }

  /** Wait until an expression is true; says what the page shows when it never is. */
  async until(expression: string, what: string, timeoutMs: number = 40_000): Promise<void> {
    const deadline = Date.now() + timeoutMs
    while (!(await this.evaluate<boolean>(`Boolean(${expression})`).catch(() => false))) {
      if (Date.now() < deadline) await sleep(50)
      else
        throw new Error(
          `waited in vain: ${what}; the page shows: ${await this.evaluate<string>('document.body.innerText')}; ${this.errors.join()}`,
        )
    }
  }

  async press(key: string): Promise<void> {
    const text = key.length === 1 ? { text: key } : {}
    await this.call('Input.dispatchKeyEvent', { type: 'keyDown', key, ...text })
    await this.call('Input.dispatchKeyEvent', { type: 'keyUp', key })
  }

  async click(x: number, y: number): Promise<void> {
    for (const type of ['mouseMoved', 'mousePressed', 'mouseReleased'])
      await this.call('Input.dispatchMouseEvent', {
        type,
        x,
        y,
        button: type === 'mouseMoved' ? 'none' : 'left',
        clickCount: 1,
      })
  }

  /** A picture of the page, as PNG. */
  async screenshot(): Promise<Buffer> {
    const { data } = (await this.call('Page.captureScreenshot', { format: 'png' })) as { data: string }
    return Buffer.from(data, 'base64')
  }

  call(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#lastId
    const answer = new Promise<unknown>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the browser does not answer ${method}`)), CALL_MS_MAX)
      const done =
        <T>(settle: (value: T) => void) =>
        (value: T): void => {
          clearTimeout(timer)
          this.#waiting.delete(id)
          settle(value)
        }
      this.#waiting.set(id, { resolve: done(resolve), reject: done(reject) })
    })
    const session = this.#session === undefined ? {} : { sessionId: this.#session }
    ;(this.#child.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, ...session })}\0`)
    return answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('close', resolve))
    this.#session = undefined
    this.call('Browser.close').catch(() => {})
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 5000)
    await ended
    clearTimeout(timer)
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }

  #take(text: string): void {
    const parts = (this.#text + text).split('\0')
    this.#text = parts.pop() ?? ''
    for (const part of parts) this.#hear(JSON.parse(part) as Answer)
  }

  #hear({ id, result, error, method, params }: Answer): void {
    if (method === 'Runtime.exceptionThrown')
      this.errors.push(params?.exceptionDetails?.exception?.description ?? 'an exception')
    const waiting = id === undefined ? undefined : this.#waiting.get(id)
    if (error === undefined) waiting?.resolve(result)
    else waiting?.reject(new Error(error.message))
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
