import uPlot from 'uplot';
import { aligned, type PlotContent } from './plot-content.ts';

/**
 * `<sonogate-plot .content=…>` keeps a chart as wide as its container and in the colours of the
 * scheme. It is a class because custom elements must be classes.
 */
class PlotElement extends HTMLElement {
  private chart: uPlot | null = null;
  private shown: PlotContent | null = null;
  private readonly sized = new ResizeObserver(() => this.fit());
  private readonly schemed = new MutationObserver(() => this.draw());
  private readonly system = matchMedia('(prefers-color-scheme: dark)');
  private readonly redraw = () => this.draw();

  set content(content: PlotContent) {
    if (content === this.shown) return;
    this.shown = content;
    if (this.isConnected) this.draw();
  }

  connectedCallback(): void {
    this.sized.observe(this);
    this.schemed.observe(document.documentElement, { attributeFilter: ['data-scheme'] });
    this.system.addEventListener('change', this.redraw);
    this.draw();
  }

  disconnectedCallback(): void {
    this.sized.disconnect();
    this.schemed.disconnect();
    this.system.removeEventListener('change', this.redraw);
    this.chart?.destroy();
    this.chart = null;
  }

  private fit(): void {
    if (!this.chart || !this.shown || this.clientWidth === 0) return;
    this.chart.setSize({ width: this.clientWidth, height: this.shown.height });
  }

  private draw(): void {
    if (!this.shown) return;
    this.chart?.destroy();
    this.setAttribute('role', 'img');
    this.setAttribute('aria-label', this.shown.label);
    const { series, height } = this.shown;
    this.chart = new uPlot(
      { ...optionsOf(this.shown, this), width: this.clientWidth || 320, height },
      aligned(series),
      this,
    );
  }
}

/** Returns a token's current colour; only the browser resolves `light-dark()`. */
function colourOf(token: string, near: HTMLElement): string {
  const probe = document.createElement('i');
  probe.style.color = `var(${token})`;
  near.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function optionsOf(
  { series, xText, yText, fromZero = false, marks = [] }: PlotContent,
  near: HTMLElement,
): Omit<uPlot.Options, 'width' | 'height'> {
  const [ink, line] = [colourOf('--ink-soft', near), colourOf('--line', near)];
  const font = `11px ${getComputedStyle(near).fontFamily}`;
  const axis = (label: string, size: number): uPlot.Axis => ({
    label,
    stroke: ink,
    font,
    labelFont: font,
    labelSize: 18,
    size,
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
  });
  return {
    // Without alignment to pixels, curves look smooth rather than stepped.
    pxAlign: false,
    cursor: { show: false },
    legend: { show: false },
    scales: {
      x: { time: false },
      y: fromZero
        ? {
            range: (_chart, low, high) =>
              uPlot.rangeNum(Math.min(0, low), Math.max(0, high), 0.1, true),
          }
        : {},
    },
    axes: [axis(xText, 26), axis(yText, 44)],
    series: [
      {},
      ...series.map(({ name, colour, width, dash, dots }): uPlot.Series => {
        const stroke = colourOf(colour, near);
        return {
          label: name,
          stroke,
          width: dots ? 0 : width,
          dash: dash ? [...dash] : undefined,
          spanGaps: true,
          points: { show: dots ?? false, size: 9, fill: stroke },
        };
      }),
    ],
    hooks: {
      draw: [
        ({ ctx, bbox, valToPos }) => {
          ctx.save();
          ctx.strokeStyle = ink;
          ctx.setLineDash([4, 4]);
          for (const mark of marks) {
            const x = valToPos(mark, 'x', true);
            ctx.beginPath();
            ctx.moveTo(x, bbox.top);
            ctx.lineTo(x, bbox.top + bbox.height);
            ctx.stroke();
          }
          ctx.restore();
        },
      ],
    },
  };
}

customElements.define('sonogate-plot', PlotElement);
