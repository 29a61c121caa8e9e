import type {
  DrawnMeasurement,
  OverlayClip,
  Position,
  Shape,
} from '../../../../pipelines/artifacts/display/overlay-contract.ts';
import { type Adjustment, lit, moved, UNCHANGED, zoomedAt } from './adjustment.ts';
import { artifactUrl } from './api.ts';
import {
  type CineFrames,
  displayMilliseconds,
  firstFrame,
  framesOf,
  openCine,
  stepped,
} from './cine.ts';
import type { KeyBinding } from './keyboard.ts';
import { LAYERS, type Layer } from './overlay-drawing.ts';
import { dragged } from './shape-editing.ts';

/** A measurement that a person is correcting on its image. */
interface Editing {
  measurement: string;
  shapes: Shape[];
  /** Called when a dragged point is released. */
  changed(shapes: Shape[]): void;
}

interface ViewerParts {
  requestId: string;
  clips: readonly OverlayClip[];
  /** Section titles, for filtering the images. */
  sections: readonly { id: string; title: string }[];
  redraw: () => void;
  /** Name of the region; unique on the page. */
  name: string;
  turned?: () => void;
}

const ZOOM_STEP = 1.25;

/** Layers shown initially: lines, but nothing that covers the anatomy. */
const FIRST_LAYERS = ['calipers', 'contours', 'traces'] as const satisfies readonly Layer[];

const MODES = {
  '2d': 'B-mode',
  colour: 'Colour Doppler',
  spectral: 'Spectral Doppler',
  'm-mode': 'M-mode',
  unknown: 'Image',
} as const satisfies Record<OverlayClip['mode'], string>;

/** Returns the view or plane that an image shows or, if it is unknown, the imaging mode. */
export const contentOf = ({ view, mode }: Pick<OverlayClip, 'view' | 'mode'>): string =>
  view ?? MODES[mode];

/**
 * A request's key images and cines with their measurements: the viewer's current state, and all
 * actions that change it. `imagePanel` renders it.
 */
export class ImageViewer {
  readonly #parts: ViewerParts;
  /** The clips that have an image. */
  readonly clips: readonly OverlayClip[];
  readonly on: ReadonlySet<Layer>;
  readonly keys: readonly KeyBinding[];
  frame = 1;
  /** The highlighted measurement; null if no measurement is highlighted. */
  chosen: string | null = null;
  /** The section whose images are listed; null for all. */
  section: string | null = null;
  adjusted: Adjustment = UNCHANGED;
  editing: Editing | null = null;
  speed = 1;
  problem: string | null = null;
  /**
   * The canvas on which the frames of a cine are drawn; `stage` is the element shown full screen.
   * Both are set when they are rendered.
   */
  canvas: HTMLCanvasElement | null = null;
  stage: Element | null = null;
  readonly #layers = new Set<Layer>(FIRST_LAYERS);
  readonly #cines = new Map<string, CineFrames>();
  #place = 0;
  #timer: number | null = null;

  constructor(parts: ViewerParts) {
    this.#parts = parts;
    this.clips = parts.clips.filter((clip) => framesOf(clip).length > 0);
    this.on = this.#layers;
    this.#place = Math.max(
      0,
      this.clips.findIndex(({ calipers }) => calipers.length > 0),
    );
    const { clip } = this;
    if (clip) this.frame = firstFrame(clip);
    this.keys = [
      { key: ' ', does: 'play or pause the clip', run: () => this.playOrPause() },
      { key: 'ArrowRight', does: 'next frame', run: () => this.step(1) },
      { key: 'ArrowLeft', does: 'previous frame', run: () => this.step(-1) },
      { key: 'n', does: 'next image', run: () => this.turn(1) },
      { key: 'p', does: 'previous image', run: () => this.turn(-1) },
      { key: '+', does: 'larger', run: () => this.zoom(1) },
      { key: '-', does: 'smaller', run: () => this.zoom(-1) },
      { key: '0', does: 'image as acquired', run: () => this.adjust(UNCHANGED) },
      { key: 'f', does: 'full screen', run: () => this.fillScreen() },
      ...(Object.keys(LAYERS) as Layer[]).map((layer) => ({
        key: LAYERS[layer].key,
        does: `${LAYERS[layer].text.toLowerCase()} on or off`,
        run: () => this.toggle(layer),
      })),
    ];
  }

  get name(): string {
    return this.#parts.name;
  }

  /** The clip being shown; undefined if there are no images. */
  get clip(): OverlayClip | undefined {
    return this.clips[this.#place];
  }

  get isPlaying(): boolean {
    return this.#timer !== null;
  }

  get listed(): readonly OverlayClip[] {
    const { section } = this;
    if (section === null) return this.clips;
    return this.clips.filter(({ key_frames }) =>
      key_frames.some(({ sections }) => sections.includes(section)),
    );
  }

  get sections(): ViewerParts['sections'] {
    const used = new Set(
      this.clips.flatMap(({ key_frames }) => key_frames.flatMap(({ sections }) => sections)),
    );
    return this.#parts.sections.filter(({ id }) => used.has(id));
  }

  /** Returns an image's number in its study. Sentences refer to the image by this number. */
  numberOf(clip: OverlayClip): number {
    return this.#parts.clips.indexOf(clip) + 1;
  }

  has(file: string | null): boolean {
    return this.clips.some((clip) => clip.file === file);
  }

  /** Returns the file, frame and view on the screen; null if there is no image. */
  shown(): { file: string; frame: number; view: string | null } | null {
    const { clip, frame } = this;
    return clip ? { file: clip.file, frame, view: clip.view } : null;
  }

  pictureUrl(artifact: string): string {
    return artifactUrl(this.#parts.requestId, artifact);
  }

  open(clip: OverlayClip | undefined): void {
    if (!clip) return;
    const { section, name, canvas } = this;
    this.#pause();
    // The frame of another clip must not stay below this clip's calipers while the clip loads.
    canvas?.getContext('2d')?.clearRect(0, 0, canvas.width, canvas.height);
    this.#place = this.clips.indexOf(clip);
    const key = clip.key_frames.find(({ sections }) => section && sections.includes(section));
    this.frame = key?.frame ?? firstFrame(clip);
    this.chosen = null;
    this.editing = null;
    this.problem = null;
    this.adjusted = { ...this.adjusted, scale: 1, x: 0, y: 0 };
    this.#redraw();
    this.#parts.turned?.();
    requestAnimationFrame(() => {
      const pressed = document.querySelector(`#${name} .strip [aria-pressed="true"]`);
      pressed?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    });
  }

  /**
   * Shows a frame of a file and highlights a measurement.
   * @returns false if the file has no image.
   */
  show(file: string, wanted: number | null, measurement: string | null): boolean {
    const clip = this.clips.find((one) => one.file === file);
    if (!clip) return false;
    this.#openAny(clip);
    const drawn = clip.calipers.find((one) => one.measurement === measurement);
    const target = drawn?.frame ?? wanted;
    if (framesOf(clip).some(({ frame }) => frame === target)) this.frame = target ?? this.frame;
    this.chosen = measurement;
    this.#redraw();
    return true;
  }

  /**
   * Shows an image of this view or plane, if there is one. An image with a measurement is
   * preferred, then an image of the chosen section.
   */
  showLike(view: string | null): void {
    if (view === null) return;
    const like = [...this.listed, ...this.clips].filter((clip) => clip.view === view);
    const best = like.find(({ calipers }) => calipers.length > 0) ?? like[0];
    if (best && best !== this.clip) this.#openAny(best);
  }

  /** Opens a clip. If the chosen section does not list it, all clips are listed again. */
  #openAny(clip: OverlayClip): void {
    if (!this.listed.includes(clip)) this.section = null;
    this.open(clip);
  }

  list(section: string | null): void {
    this.section = section;
    this.open(this.listed[0]);
  }

  turn(by: number): void {
    const { listed, clip } = this;
    const place = clip ? listed.indexOf(clip) : -1;
    this.open(listed[(place + by + listed.length) % Math.max(1, listed.length)]);
  }

  go(frame: number): void {
    this.#pause();
    this.frame = frame;
    this.#redraw();
  }

  step(by: number): void {
    const { clip, frame } = this;
    if (clip) this.go(stepped(framesOf(clip), frame, by));
  }

  playOrPause(): void {
    if (this.isPlaying) this.#pause();
    else this.#play();
    this.#redraw();
  }

  toggle(layer: Layer): void {
    if (!this.#layers.delete(layer)) this.#layers.add(layer);
    this.#redraw();
  }

  adjust(next: Adjustment): void {
    this.adjusted = next;
    this.#redraw();
  }

  /** Zooms in or out by one step; the image point at `from` does not move. */
  zoom(direction: 1 | -1, from?: { x: number; y: number }): void {
    this.adjust(zoomedAt(this.adjusted, ZOOM_STEP ** direction, from));
  }

  /**
   * Applies a drag: the left button moves the image, the right button changes its brightness and
   * contrast.
   */
  drag(buttons: number, by: { x: number; y: number }): void {
    if (buttons === 1 && this.adjusted.scale > 1) this.adjust(moved(this.adjusted, by));
    if (buttons === 2) this.adjust(lit(this.adjusted, by));
  }

  choose(measurement: string): void {
    this.chosen = this.chosen === measurement ? null : measurement;
    this.#redraw();
  }

  fillScreen(): void {
    if (document.fullscreenElement) void document.exitFullscreen();
    else void this.stage?.requestFullscreen();
  }

  /**
   * Replaces the calipers of the AI's result with those of the current measurements. `drawn` is
   * keyed by file.
   */
  correct(drawn: Readonly<Record<string, DrawnMeasurement[]>>): void {
    for (const clip of this.clips) clip.calipers = drawn[clip.file] ?? [];
    this.#redraw();
  }

  /** Lets a person drag the points of a measurement; null ends the correction. */
  edit(editing: Editing | null): void {
    this.editing = editing;
    this.#redraw();
  }

  /** Called when a point of the edited shapes is moved; `done` is true when it is released. */
  movePoint(shape: number, point: number, to: Position, done: boolean): void {
    const { editing } = this;
    if (!editing) return;
    editing.shapes = editing.shapes.map((one, index) =>
      index === shape ? dragged(one, point, to) : one,
    );
    if (done) editing.changed(editing.shapes);
    this.#redraw();
  }

  /**
   * Draws a frame of a cine. An image that arrives after another frame was requested is dropped,
   * and so is an error that occurs after another clip was opened.
   */
  async draw(clip: OverlayClip, wanted: number): Promise<void> {
    const frames = this.#cineOf(clip);
    if (!this.canvas || !clip.cine?.frames.some(({ frame }) => frame === wanted)) return;
    try {
      const picture = await frames?.picture(wanted);
      const { canvas } = this;
      if (picture && canvas && this.clip === clip && this.frame === wanted) {
        canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
      }
      void frames?.picture(stepped(framesOf(clip), wanted, 1)).catch(() => undefined);
    } catch (error) {
      if (this.clip !== clip) return;
      this.problem = error instanceof Error ? error.message : String(error);
      this.#pause();
      this.#redraw();
    }
  }

  close(): void {
    this.#pause();
    for (const cine of this.#cines.values()) cine.close();
  }

  #redraw(): void {
    this.#parts.redraw();
  }

  #pause(): void {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
  }

  #play(): void {
    const { clip } = this;
    if (!clip?.cine) return;
    const frames = framesOf(clip);
    this.#timer = setTimeout(() => {
      // The first frame stays until the file has arrived, so that no frames are skipped.
      if (this.#cineOf(clip)?.ready()) {
        this.frame = stepped(frames, this.frame, 1);
        this.#redraw();
      }
      this.#play();
    }, displayMilliseconds(frames, this.frame) / this.speed);
  }

  #cineOf(clip: OverlayClip): CineFrames | null {
    if (!clip.cine) return null;
    const known = this.#cines.get(clip.file);
    if (known) return known;
    const opened = openCine(clip.cine, this.pictureUrl(clip.cine.artifact));
    this.#cines.set(clip.file, opened);
    return opened;
  }
}
