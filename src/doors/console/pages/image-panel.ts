import type { OverlayClip } from '../../../../pipelines/artifacts/display/overlay-contract.ts';
import { LIGHT, styleOf, UNCHANGED } from './adjustment.ts';
import { framesOf, phaseText } from './cine.ts';
import { html, nothing, ref, repeat, styled, type TemplateResult } from './html.ts';
import { contentOf, type ImageViewer } from './image-viewer.ts';
import {
  calipersOn,
  colourOf,
  handlesView,
  LAYERS,
  layersOf,
  overlayView,
} from './overlay-drawing.ts';

type Part = TemplateResult | typeof nothing;

const SPEEDS = [0.25, 0.5, 1, 2] as const;

/** Renders a study's images: their list, the open one with its measurements, and the controls. */
export function imagePanel(viewer: ImageViewer): TemplateResult {
  const { clip, frame, on, chosen, editing, adjusted, problem, name } = viewer;
  if (!clip) return html`<p class="soft">No images of this study were kept.</p>`;
  const label = name === 'images' ? 'Images' : 'Images of the earlier study';
  return html`<section class="viewer" id=${name} aria-label=${label}>
    ${strip(viewer)}
    <div
      class="stage"
      ${ref((element) => {
        viewer.stage = element ?? null;
      })}
    >
      <figure
        class=${adjusted.scale > 1 ? 'enlarged' : ''}
        @wheel=${(event: WheelEvent) => wheel(event, viewer)}
        @pointermove=${({ buttons, movementX: x, movementY: y }: PointerEvent) => viewer.drag(buttons, { x, y })}
        @contextmenu=${(event: Event) => event.preventDefault()}
      >
        <div class="picture" ${styled({ '--ratio': String(clip.columns / clip.rows), ...styleOf(adjusted) })}>
          ${picture(viewer, clip)} ${overlayView({ clip, frame, on, chosen, edited: editing })}
          ${
            editing
              ? handlesView({
                  clip,
                  shapes: editing.shapes,
                  move: (shape, point, to, done) => viewer.movePoint(shape, point, to, done),
                })
              : nothing
          }
        </div>
      </figure>
      ${problem ? html`<p class="problem">${problem}</p>` : nothing} ${values(viewer, clip)}
      ${controls(viewer, clip)}
    </div>
  </section>`;
}

const nameOf = (viewer: ImageViewer, clip: OverlayClip): string =>
  `Image ${viewer.numberOf(clip)}: ${contentOf(clip)}`;

/**
 * Zooms when the wheel is turned with Ctrl pressed, or once the image is enlarged. Otherwise the
 * page scrolls.
 */
function wheel(event: WheelEvent, viewer: ImageViewer): void {
  const { currentTarget: place } = event;
  const wanted = event.ctrlKey || viewer.adjusted.scale > 1;
  if (!wanted || !(place instanceof HTMLElement)) return;
  event.preventDefault();
  const box = place.getBoundingClientRect();
  viewer.zoom(event.deltaY < 0 ? 1 : -1, {
    x: event.clientX - box.left - box.width / 2,
    y: event.clientY - box.top - box.height / 2,
  });
}

/**
 * Renders a frame's image. A key frame is shown as its own, sharper image, except while the clip
 * plays and the cine contains the frame.
 */
function picture(viewer: ImageViewer, clip: OverlayClip): TemplateResult {
  const { frame, isPlaying } = viewer;
  const key = clip.key_frames.find((one) => one.frame === frame);
  const inCine = clip.cine?.frames.some((one) => one.frame === frame) ?? false;
  const still = key && !(isPlaying && inCine) ? key : null;
  const alt = `${nameOf(viewer, clip)}, frame ${frame} of ${clip.frames}`;
  if (clip.cine) void viewer.draw(clip, frame);
  return html`${
    clip.cine
      ? html`<canvas
          width=${clip.cine.width}
          height=${clip.cine.height}
          role="img"
          aria-label=${alt}
          ?hidden=${still !== null}
          ${ref((element) => {
            viewer.canvas = element instanceof HTMLCanvasElement ? element : null;
          })}
        ></canvas>`
      : nothing
  }
  ${repeat(
    still ? [still] : [],
    // Each image has its own element. Otherwise the previous image would stay visible below the new
    // calipers until the new image has loaded.
    ({ artifact }) => artifact,
    ({ artifact, width, height }) =>
      html`<img src=${viewer.pictureUrl(artifact)} width=${width} height=${height} alt=${alt} draggable="false" />`,
  )}`;
}

function values(viewer: ImageViewer, clip: OverlayClip): Part {
  const here = viewer.on.has('calipers') ? calipersOn(clip, viewer.frame) : [];
  if (here.length === 0) return nothing;
  return html`<ol class="values" aria-label="Measured on this frame">
    ${here.map(
      ({ measurement, text }, index) => html`<li class=${colourOf(index)}>
        <button type="button" aria-pressed=${measurement === viewer.chosen} @click=${() => viewer.choose(measurement)}>
          <span class="mark" aria-hidden="true">${index + 1}</span> ${text}
        </button>
      </li>`,
    )}
  </ol>`;
}

function controls(viewer: ImageViewer, clip: OverlayClip): TemplateResult {
  const { frame } = viewer;
  const view = clip.key_frames.find((one) => one.frame === frame)?.view ?? contentOf(clip);
  const phase = phaseText(clip, frame);
  const time = framesOf(clip).find((one) => one.frame === frame)?.time ?? 0;
  const seconds = clip.cine?.timed ? ` · ${time.toFixed(2)} s` : '';
  return html`<div class="row controls">
    ${cineControls(viewer, clip)} ${frameControls(viewer, clip)}
    <span class="small frame-text">
      <strong>${view}</strong>${clip.frames > 1 ? ` · Frame ${frame} of ${clip.frames}${seconds}` : ''}${phase ? html` · <strong>${phase}</strong>` : nothing}
    </span>
    <span class="row push">
      <button type="button" aria-label="Smaller" @click=${() => viewer.zoom(-1)}>−</button>
      <button type="button" aria-label="Larger" @click=${() => viewer.zoom(1)}>+</button>
      ${displayControls(viewer, clip)}
      <button type="button" @click=${() => viewer.fillScreen()}>Full screen</button>
    </span>
  </div>`;
}

function cineControls(viewer: ImageViewer, clip: OverlayClip): Part {
  if (!clip.cine) return nothing;
  return html`<button type="button" @click=${() => viewer.playOrPause()}>${viewer.isPlaying ? 'Pause' : 'Play'}</button>
    <select
      aria-label="Speed"
      @change=${({ target }: Event) => {
        if (target instanceof HTMLSelectElement) viewer.speed = Number(target.value);
      }}
    >
      ${SPEEDS.map((one) => html`<option value=${one} ?selected=${one === viewer.speed}>× ${one}</option>`)}
    </select>`;
}

function frameControls(viewer: ImageViewer, clip: OverlayClip): Part {
  const frames = framesOf(clip);
  if (frames.length < 2) return nothing;
  return html`<button type="button" aria-label="Frame before" @click=${() => viewer.step(-1)}>‹</button>
    <input
      type="range"
      aria-label="Frame"
      aria-valuetext=${`frame ${viewer.frame} of ${clip.frames}`}
      min="0"
      max=${frames.length - 1}
      .value=${String(frames.findIndex((one) => one.frame === viewer.frame))}
      @input=${({ target }: Event) => {
        if (target instanceof HTMLInputElement) {
          viewer.go(frames[target.valueAsNumber]?.frame ?? viewer.frame);
        }
      }}
    />
    <button type="button" aria-label="Next frame" @click=${() => viewer.step(1)}>›</button>`;
}

function displayControls(viewer: ImageViewer, clip: OverlayClip): TemplateResult {
  return html`<details class="display">
    <summary>Display</summary>
    <div class="panel">
      ${layersOf(clip).map(
        (layer) => html`<label class="tick small">
          <input type="checkbox" .checked=${viewer.on.has(layer)} @change=${() => viewer.toggle(layer)} />
          ${LAYERS[layer].text}
        </label>`,
      )}
      ${slider(viewer, 'Brightness', 'brightness')} ${slider(viewer, 'Contrast', 'contrast')}
      <button type="button" @click=${() => viewer.adjust(UNCHANGED)}>As acquired</button>
    </div>
  </details>`;
}

function slider(
  viewer: ImageViewer,
  label: string,
  part: 'brightness' | 'contrast',
): TemplateResult {
  return html`<label class="field small">
    <span>${label}</span>
    <input
      type="range"
      min=${LIGHT.least}
      max=${LIGHT.most}
      step="0.05"
      .value=${String(viewer.adjusted[part])}
      @input=${({ target }: Event) => {
        if (target instanceof HTMLInputElement) {
          viewer.adjust({ ...viewer.adjusted, [part]: target.valueAsNumber });
        }
      }}
    />
  </label>`;
}

function strip(viewer: ImageViewer): TemplateResult {
  return html`<div class="images">
    ${sectionChoice(viewer)}
    <ul class="strip" aria-label="Images">
      ${viewer.listed.map((clip) => thumbnail(viewer, clip))}
    </ul>
  </div>`;
}

function sectionChoice(viewer: ImageViewer): Part {
  const { sections, section } = viewer;
  if (sections.length < 2) return nothing;
  return html`<select
    aria-label="Images of"
    @change=${({ target }: Event) => {
      if (target instanceof HTMLSelectElement) viewer.list(target.value || null);
    }}
  >
    <option value="" ?selected=${section === null}>All images</option>
    ${sections.map(({ id, title }) => html`<option value=${id} ?selected=${id === section}>${title}</option>`)}
  </select>`;
}

function thumbnail(viewer: ImageViewer, clip: OverlayClip): TemplateResult {
  const key = clip.key_frames[0];
  const name = nameOf(viewer, clip);
  return html`<li>
    <button
      type="button"
      aria-pressed=${clip === viewer.clip}
      aria-label=${name}
      title=${name}
      @click=${() => viewer.open(clip)}
    >
      ${
        key
          ? html`<img src=${viewer.pictureUrl(key.artifact)} width=${key.width} height=${key.height} alt="" loading="lazy" />`
          : nothing
      }
      <span class="small">${viewer.numberOf(clip)} · ${contentOf(clip)}${clip.cine ? ' ▸' : ''}</span>
    </button>
  </li>`;
}
