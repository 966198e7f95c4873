/** A canvas that fills its parent and is sharp on every screen. Sizes and positions are CSS pixels. */
export class CanvasStage {
  readonly element: HTMLElement
  readonly canvas: HTMLCanvasElement
  readonly context: CanvasRenderingContext2D
  width = 0
  height = 0

  constructor(label: string) {
    this.canvas = document.createElement('canvas')
    this.canvas.setAttribute('role', 'img')
    this.canvas.setAttribute('aria-label', label)
    this.context = this.canvas.getContext('2d')!
    this.element = document.createElement('div')
    this.element.className = 'stage'
    this.element.append(this.canvas)
  }

  /** Adapt the canvas to its size and clear it. */
  clear(): CanvasRenderingContext2D {
    const scale = devicePixelRatio
    const { clientWidth, clientHeight } = this.element
    const [width, height] = [Math.round(clientWidth * scale), Math.round(clientHeight * scale)]
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width
      this.canvas.height = height
    }
    this.width = clientWidth
    this.height = clientHeight
    this.context.setTransform(scale, 0, 0, scale, 0, 0)
    this.context.clearRect(0, 0, clientWidth, clientHeight)
    return this.context
  }
}

let colours: Map<string, string> = new Map()

/** A colour from the style sheet. */
export function colour(name: string): string {
  let value = colours.get(name)
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
    colours.set(name, value)
  }
  return value
}

/** Call it when the theme has changed. */
export function forgetColours(): void {
  colours = new Map()
}

/** The colour of a rank. Hues differ by the golden angle, so neighbours are distinct. */
export function rankColour(rank: number, alpha = 1): string {
  const isDark = document.documentElement.dataset['theme'] === 'dark'
  return `hsl(${((215 + rank * 137.508) % 360).toFixed(1)} ${isDark ? 72 : 64}% ${isDark ? 62 : 48}% / ${alpha})`
}

/** The colour of text on {@link rankColour}: light or dark, whichever has more contrast. */
export function inkOn(rank: number, alpha: number): string {
  const isDark = document.documentElement.dataset['theme'] === 'dark'
  const [hue, saturation, lightness] = [(215 + rank * 137.508) % 360, isDark ? 0.72 : 0.64, isDark ? 0.62 : 0.48]
  const reach = saturation * Math.min(lightness, 1 - lightness)
  // Red (0), green (8) or blue (4) of a colour, from hue, saturation and lightness as in CSS Color 4, blended with the
  // ground.
  const part = (n: number): number => {
    const k = (n + hue / 30) % 12
    return alpha * (lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1))) + (1 - alpha) * (isDark ? 0.1 : 1)
  }
  const luminance = 0.2126 * part(0) ** 2.2 + 0.7152 * part(8) ** 2.2 + 0.0722 * part(4) ** 2.2
  return luminance > 0.3 ? '#10151f' : '#fff'
}

export const FONT = '12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif'
