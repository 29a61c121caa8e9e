import type { OverlayClip } from '../../../../pipelines/artifacts/display/overlay-contract.ts';
import { artifactUrl } from './api.ts';
import {
  type CineFrames,
  firstFrame,
  framesOf,
  openCine,
  phaseText,
  stayOf,
  stepped,
} from './cine.ts';
import { html, nothing, ref, styled, type TemplateResult } from './html.ts';
import type { KeyBinding } from './keyboard.ts';
import { LAYERS, type Layer, layersOf, overlayView } from './overlay-drawing.ts';

export interface ImageViewer {
  view(): TemplateResult;
  /** Shows a frame of a file and highlights a measurement; false when there is no picture of it. */
  show(file: string, frame: number | null, measurement: string | null): boolean;
  has(file: string | null): boolean;
  keys: readonly KeyBinding[];
  close(): void;
}

/** Key images and cines of a request with what was measured on them. */
export function createImageViewer(
  requestId: string,
  given: readonly OverlayClip[],
  redraw: () => void,
): ImageViewer {
  const clips = given.filter((clip) => framesOf(clip).length > 0);
  const cines = new Map<string, CineFrames>();
  const on = new Set<Layer>(Object.keys(LAYERS) as Layer[]);
  let at = Math.max(
    0,
    clips.findIndex(({ calipers }) => calipers.length > 0),
  );
  let frame = clips.slice(at, at + 1).map(firstFrame)[0] ?? 1;
  let chosen: string | null = null;
  let playing: number | null = null;
  let canvas: HTMLCanvasElement | null = null;
  let problem: string | null = null;

  function open(index: number): void {
    const clip = clips[index];
    if (!clip) return;
    pause();
    at = index;
    frame = firstFrame(clip);
    chosen = null;
    problem = null;
    redraw();
    requestAnimationFrame(() => {
      const pressed = document.querySelector('.strip [aria-pressed="true"]');
      pressed?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    });
  }

  function go(next: number): void {
    frame = next;
    redraw();
  }

  function step(by: number): void {
    const clip = clips[at];
    if (!clip) return;
    pause();
    go(stepped(framesOf(clip), frame, by));
  }

  function pause(): void {
    clearTimeout(playing ?? undefined);
    playing = null;
  }

  function play(): void {
    const clip = clips[at];
    if (!clip?.cine) return;
    const frames = framesOf(clip);
    playing = setTimeout(
      () => {
        // The first frames wait for the file, so that the clip begins at its beginning.
        if (cineOf(clip)?.ready()) go(stepped(frames, frame, 1));
        play();
      },
      stayOf(frames, frame),
    );
  }

  function playOrPause(): void {
    if (playing === null) play();
    else pause();
    redraw();
  }

  function cineOf(clip: OverlayClip): CineFrames | null {
    if (!clip.cine) return null;
    const known = cines.get(clip.file);
    if (known) return known;
    const opened = openCine(clip.cine, artifactUrl(requestId, clip.cine.artifact));
    cines.set(clip.file, opened);
    return opened;
  }

  /** A picture that arrives after another frame was requested is not drawn. */
  async function draw(clip: OverlayClip, wanted: number): Promise<void> {
    const frames = cineOf(clip);
    if (!canvas || !frames || !clip.cine?.frames.some((one) => one.frame === wanted)) return;
    try {
      const picture = await frames.picture(wanted);
      if (canvas && clips[at] === clip && frame === wanted) {
        canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
      }
      void frames.picture(stepped(framesOf(clip), wanted, 1)).catch(() => undefined);
    } catch (error) {
      problem = String(error);
      pause();
      redraw();
    }
  }

  function toggle(layer: Layer): void {
    if (on.has(layer)) on.delete(layer);
    else on.add(layer);
    redraw();
  }

  /** A key frame is sharper; while a clip plays, every frame comes from the cine. */
  function pictureView(clip: OverlayClip): TemplateResult {
    const key = clip.key_frames.find((one) => one.frame === frame);
    const inCine = clip.cine?.frames.some((one) => one.frame === frame) ?? false;
    const still = key && (playing === null || !inCine) ? key : null;
    const alt = `${nameOf(clip, at)}, frame ${frame} of ${clip.frames}`;
    if (clip.cine) void draw(clip, frame);
    return html`${
      clip.cine
        ? html`<canvas
              width=${clip.cine.width}
              height=${clip.cine.height}
              role="img"
              aria-label=${alt}
              ?hidden=${still !== null}
              ${ref((element) => {
                canvas = element instanceof HTMLCanvasElement ? element : null;
              })}
            ></canvas>`
        : nothing
    }
      ${still ? html`<img src=${artifactUrl(requestId, still.artifact)} width=${still.width} height=${still.height} alt=${alt} />` : nothing}`;
  }

  function controls(clip: OverlayClip): TemplateResult {
    const frames = framesOf(clip);
    const index = frames.findIndex((one) => one.frame === frame);
    const view = clip.key_frames.find((one) => one.frame === frame)?.view ?? clip.view;
    const phase = phaseText(clip, frame);
    const seconds = clip.cine?.timed ? ` · ${(frames[index]?.time ?? 0).toFixed(2)} s` : '';
    return html`<div class="row controls">
      ${
        clip.cine
          ? html`<button type="button" @click=${playOrPause}>${playing === null ? 'Play' : 'Pause'}</button>`
          : nothing
      }
      ${
        frames.length > 1
          ? html`<button type="button" aria-label="Frame before" @click=${() => step(-1)}>‹</button>
              <input
                type="range"
                aria-label="Frame"
                aria-valuetext=${`frame ${frame} of ${clip.frames}`}
                min="0"
                max=${frames.length - 1}
                .value=${String(index)}
                @input=${(event: Event) => {
                  if (!(event.target instanceof HTMLInputElement)) return;
                  pause();
                  go(frames[event.target.valueAsNumber]?.frame ?? frame);
                }}
              />
              <button type="button" aria-label="Next frame" @click=${() => step(1)}>›</button>`
          : nothing
      }
      <span class="small frame-text">
        ${view ? html`<strong>${view}</strong> · ` : nothing}Frame ${frame} of ${clip.frames}${seconds}${phase ? html` · <strong>${phase}</strong>` : nothing}
      </span>
      <span class="row push">
        ${layersOf(clip).map(
          (layer) => html`<label class="tick small">
            <input type="checkbox" .checked=${on.has(layer)} @change=${() => toggle(layer)} />
            ${LAYERS[layer].text}
          </label>`,
        )}
      </span>
    </div>`;
  }

  function strip(): TemplateResult {
    return html`<ul class="strip" aria-label="Images">
      ${clips.map((clip, index) => {
        const picture = clip.key_frames[0];
        return html`<li>
          <button
            type="button"
            aria-pressed=${index === at}
            aria-label=${nameOf(clip, index)}
            @click=${() => open(index)}
          >
            ${
              picture
                ? html`<img src=${artifactUrl(requestId, picture.artifact)} width=${picture.width} height=${picture.height} alt="" loading="lazy" />`
                : nothing
            }
            <span class="small">${clip.view ?? clip.mode}${clip.cine ? ' ▸' : ''}</span>
          </button>
        </li>`;
      })}
    </ul>`;
  }

  return {
    view() {
      const clip = clips[at];
      if (!clip) return html`<p class="soft">No picture was kept of this study.</p>`;
      return html`<section class="viewer" id="images" aria-label="Images">
        ${strip()}
        <div class="stage">
          <figure>
            <div class="picture" ${styled({ '--ratio': String(clip.columns / clip.rows) })}>
              ${pictureView(clip)} ${overlayView({ clip, frame, on, chosen })}
            </div>
          </figure>
          ${problem ? html`<p class="problem">${problem}</p>` : nothing} ${controls(clip)}
        </div>
      </section>`;
    },
    has: (file) => clips.some((clip) => clip.file === file),
    show(file, wanted, measurement) {
      const index = clips.findIndex((clip) => clip.file === file);
      const clip = clips[index];
      if (!clip) return false;
      open(index);
      const drawn = clip.calipers.find((one) => one.measurement === measurement);
      const target = drawn?.frame ?? wanted;
      if (target !== null && framesOf(clip).some((one) => one.frame === target)) frame = target;
      chosen = measurement;
      redraw();
      return true;
    },
    keys: [
      { key: ' ', does: 'plays or stops the clip', run: playOrPause },
      { key: 'ArrowRight', does: 'next frame', run: () => step(1) },
      { key: 'ArrowLeft', does: 'frame before', run: () => step(-1) },
      { key: 'n', does: 'next image', run: () => open((at + 1) % Math.max(1, clips.length)) },
      {
        key: 'p',
        does: 'image before',
        run: () => open((at - 1 + clips.length) % Math.max(1, clips.length)),
      },
      ...(Object.keys(LAYERS) as Layer[]).map((layer) => ({
        key: LAYERS[layer].key,
        does: `${LAYERS[layer].text.toLowerCase()} on or off`,
        run: () => toggle(layer),
      })),
    ],
    close() {
      pause();
      for (const cine of cines.values()) cine.close();
    },
  };
}

function nameOf(clip: OverlayClip, index: number): string {
  return `Image ${index + 1}: ${clip.view ?? clip.mode}`;
}
