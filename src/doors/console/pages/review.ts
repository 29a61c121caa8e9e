import type { Shape } from '../../../../pipelines/artifacts/display/overlay-contract.ts';
import type { Change, ReviewNews, ReviewStep, ReviewView } from '../contract.ts';
import { API, type LiveStream, openStream, ProblemError } from './api.ts';
import { type Asking, createAsking, keepFocus, sentence } from './asking.ts';
import type { ImageViewer } from './image-viewer.ts';
import type { KeyBinding } from './keyboard.ts';
import type { Surroundings } from './page.ts';

/** Milliseconds after the last move of a point before the change is sent. */
const SETTLED_MS = 120;

/** Milliseconds after which a review that could not be loaded is loaded again. */
const RELOADED_AFTER_MS = 5000;

const NOT_MADE_EITHER = ' The changes you made after it were not saved either.';
const CHANGED_SINCE =
  'The report has changed since you read this summary. Read it again before you sign.';

/**
 * Returns the next step after `at` without a decision or, if all steps are decided, the step after
 * `at`, at most the last one.
 */
export function nextOpen(steps: readonly Pick<ReviewStep, 'decision'>[], at: number): number {
  const order = steps.map((_, n) => (at + 1 + n) % steps.length);
  return order.find((n) => steps[n]?.decision === null) ?? Math.min(at + 1, steps.length - 1);
}

/**
 * Returns the newest change that was not undone and is not itself an undo; null if there is no such
 * change.
 */
export function lastChange(changes: ReviewView['changes']): ReviewView['changes'][number] | null {
  return changes.findLast(({ undone, isUndo }) => !undone && !isUndo) ?? null;
}

/**
 * Describes why a change was refused. The errors' pointers are omitted, because a reader makes one
 * change at a time.
 */
function refusalText(error: unknown): string {
  const found = error instanceof ProblemError ? (error.problem.errors ?? []) : [];
  return found.length > 0 ? found.map(({ detail }) => detail).join(' ') : sentence(error);
}

/**
 * Returns the number that a reader typed, with a decimal point or a decimal comma. If the text is
 * not a clear number, returns a sentence that says why. "1,234" is refused, because it means 1234
 * to some readers and 1.234 to others.
 */
export function typedNumber(text: string): number | string {
  if (/^[-+]?[1-9]\d{0,2},\d{3}$/.test(text)) {
    return `“${text}” could be ${text.replace(',', '')} or ${text.replace(',', '.')}. Type it in one of these ways.`;
  }
  const value = Number(text.replace(',', '.'));
  return Number.isFinite(value) ? value : `“${text}” is not a number.`;
}

/**
 * Describes why a decision on a value is not sent; null if the value has not changed since the
 * reader saw it.
 */
export function changedSince(seen: ReviewStep, now: ReviewStep | undefined): string | null {
  if (now?.text === seen.text && now.decision === seen.decision) return null;
  return `${seen.label} was affected by the previous change. Look at it again before deciding.`;
}

/**
 * Changes to send, and the text to announce once they are made. A string instead states why nothing
 * is sent; null means that nothing is left to send.
 */
type Due = { changes: Change[]; announce: string } | string | null;
type Outcome = 'made' | 'refused' | 'dropped' | 'nothing_to_do';

interface ReviewParts {
  requestId: string;
  around: Surroundings;
  /** The viewer with the result's images; null before they are shown. */
  viewer(): ImageViewer | null;
  changed(review: ReviewView): void;
}

/**
 * The review of a result, value by value, up to the signature: its state and all actions that a
 * reader can take. `reviewPanel` renders it.
 *
 * Changes are sent one after the other. While one is being saved, the reader's next changes wait.
 * If the saved one is refused, the waiting changes are dropped, and the error message says so.
 */
export class Review {
  /** The latest response from the server; null before the first one. */
  data: ReviewView | null = null;
  problem: string | null = null;
  typing: 'value' | 'note' | null = null;
  typed = '';
  statement = '';
  dragging = false;
  readonly asking: Asking;
  readonly #parts: ReviewParts;
  readonly #news: LiveStream;
  #unavailable = false;
  /** Why the latest state could not be loaded; null if it was loaded. */
  #unloaded: string | null = null;
  #reloading: number | undefined;
  #closed = false;
  #amending = false;
  /** Id of the value being shown; null before the first. */
  #current: string | null = null;
  /** The latest shapes of values that were dragged but not sent yet, by measurement. */
  readonly #dragged = new Map<string, { step: ReviewStep; shapes: Shape[] }>();
  #settling: number | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #unsaved = 0;
  #refusals = 0;

  constructor(parts: ReviewParts) {
    this.#parts = parts;
    this.asking = createAsking(parts.around);
    const path = `${API}/requests/${encodeURIComponent(parts.requestId)}/review/events`;
    this.#news = openStream(path, {
      heard: { review: (data) => this.#hear(JSON.parse(data)) },
      // The first event after reopening contains the current state.
      reopened: () => {},
    });
    void this.#load();
  }

  get person(): string {
    return this.#parts.around.session.person;
  }

  get steps(): readonly ReviewStep[] {
    return this.data?.steps ?? [];
  }

  get place(): number {
    return Math.max(
      0,
      this.steps.findIndex(({ id }) => id === this.#current),
    );
  }

  get step(): ReviewStep | null {
    return this.steps[this.place] ?? null;
  }

  get saving(): boolean {
    return this.#unsaved > 0;
  }

  /**
   * Whether the result is signed. It can then be changed only if the reader chooses to amend it.
   */
  get isSigned(): boolean {
    return this.data?.state === 'signed' || this.data?.state === 'amended';
  }

  get amending(): boolean {
    return this.#amending && this.isSigned;
  }

  get editable(): boolean {
    return this.data?.may.edit === true && (!this.isSigned || this.#amending);
  }

  /** The frame on the screen; null if there is no image. */
  get image(): ReturnType<ImageViewer['shown']> {
    return this.#parts.viewer()?.shown() ?? null;
  }

  get keys(): readonly KeyBinding[] {
    if (!this.data || this.#unavailable) return [];
    const reading = [
      { key: 'j', does: 'next value', run: () => this.turn(1) },
      { key: 'k', does: 'previous value', run: () => this.turn(-1) },
    ];
    if (!this.editable) return reading;
    return [
      ...reading,
      { key: 'a', does: 'accept the value', run: () => void this.decide('accept') },
      { key: 'x', does: 'reject the value', run: () => void this.decide('reject') },
      { key: 'e', does: 'correct the value on the image', run: () => this.startDragging() },
      { key: 'v', does: 'enter a value', run: () => this.startTyping('value') },
      { key: 'l', does: 'add a line of your own', run: () => this.startTyping('note') },
      { key: 'z', does: 'undo the last change', run: () => void this.undo() },
      { key: 'Escape', does: 'end the correction', run: () => this.endDragging() },
      {
        key: 's',
        does: 'sign, after confirming',
        run: () => document.querySelector<HTMLElement>('#review .signing button')?.click(),
      },
    ];
  }

  close(): void {
    this.#sendDragged();
    this.#closed = true;
    clearTimeout(this.#reloading);
    this.#news.close();
  }

  /** Goes to the next or previous value, wrapping around. */
  turn(by: number): void {
    const count = this.steps.length;
    if (count === 0) return;
    this.problem = null;
    this.#lookAt((this.place + (this.#current === null ? 0 : by) + count) % count);
  }

  show(file: string, frame: number | null, measurement: string): void {
    this.#parts.viewer()?.show(file, frame, measurement);
  }

  /**
   * Accepts or rejects the current value, and shows the next one immediately. If the server refuses
   * the change, the value is shown again.
   */
  async decide(kind: 'accept' | 'reject'): Promise<void> {
    const { step, place } = this;
    if (!step || !this.editable) return;
    const announce = `${step.label} ${kind === 'accept' ? 'accepted' : 'rejected'}.`;
    const made = this.#make(
      () =>
        changedSince(step, this.#stepOf(step.id)) ?? {
          changes: [{ kind, measurement: step.id }],
          announce,
        },
    );
    const others = this.steps.map((one) =>
      one.id === step.id ? { decision: 'accepted' as const } : one,
    );
    this.#lookAt(nextOpen(others, place));
    if ((await made) === 'refused') this.#lookAt(place);
  }

  async undo(): Promise<void> {
    if (!this.editable) return;
    await this.#make(() => {
      const last = lastChange(this.data?.changes ?? []);
      if (!last) return null;
      return { changes: [{ kind: 'undo', change: last.id }], announce: `Undone: ${last.text}` };
    });
  }

  async chooseRepeat(step: ReviewStep, measurement: string): Promise<void> {
    await this.#make(() => ({
      changes: [{ kind: 'choose-repeat', measurement }],
      announce: `${step.label}: another measurement is now used.`,
    }));
  }

  /**
   * Measures a value on another frame of its clip. The points stay the same until the reader moves
   * them.
   */
  async useFrame(step: ReviewStep, frame: number): Promise<void> {
    const made = await this.#make(() => {
      const points = this.#drawnOf(step.id)?.shapes[0]?.points;
      return {
        changes: [{ kind: 'choose-frame', measurement: step.id, frame, points } as Change],
        announce: `${step.label} is measured on frame ${frame}.`,
      };
    });
    if (made === 'made') this.startDragging();
  }

  /** Records what the current image shows: a cardiac view or a fetal plane. */
  async nameImage(name: string): Promise<void> {
    const { image, data } = this;
    if (!image || !data) return;
    const { file, frame } = image;
    const change: Change =
      data.names.kind === 'name-view'
        ? { kind: 'name-view', file, view: name }
        : { kind: 'name-plane', file, frame, plane: name };
    await this.#make(() => ({
      changes: [change],
      announce: 'The view or plane of the image has been changed.',
    }));
  }

  /**
   * Turns the points of the current value into handles. A move is sent as a change once the points
   * have not moved for `SETTLED_MS`.
   */
  startDragging(): void {
    const { step } = this;
    const drawn = step?.draggable ? this.#drawnOf(step.id) : null;
    const viewer = this.#parts.viewer();
    if (!step || !drawn || !viewer || !this.editable) return;
    viewer.show(drawn.file, drawn.frame, step.id);
    this.dragging = true;
    viewer.edit({
      measurement: step.id,
      shapes: drawn.shapes,
      changed: (shapes) => {
        this.#dragged.set(step.id, { step, shapes });
        clearTimeout(this.#settling);
        this.#settling = setTimeout(() => this.#sendDragged(), SETTLED_MS);
      },
    });
    this.#say(
      `Drag the points of ${step.label}, or move them with the arrow keys. Press Escape to finish.`,
    );
    this.#redraw();
    requestAnimationFrame(() => document.querySelector<SVGElement>('.handles circle')?.focus());
  }

  endDragging(): void {
    this.#sendDragged();
    if (!this.dragging) return;
    this.dragging = false;
    this.#parts.viewer()?.edit(null);
    this.#redraw();
    focusReview();
  }

  startTyping(what: 'value' | 'note'): void {
    const { step } = this;
    if (!this.editable || (what === 'value' && !step)) return;
    this.endDragging();
    this.typing = what;
    this.typed = what === 'value' ? String(step?.value) : '';
    this.#redraw();
  }

  stopTyping(): void {
    this.typing = null;
    this.#redraw();
    focusReview();
  }

  /** Saves the typed text. If it is refused, the text is restored in its field. */
  async saveTyped(): Promise<void> {
    const { place, typing } = this;
    const text = this.typed.trim();
    if (text === '') return;
    const due = typing === 'value' ? this.#typedValue(text) : typedNote(text);
    if (typeof due === 'string') {
      this.problem = due;
      return this.#redraw();
    }
    this.typing = null;
    if ((await this.#make(() => due)) === 'made') return focusReview();
    if (typing === 'value') this.#lookAt(place);
    this.typing = typing;
    this.typed = text;
    this.#redraw();
  }

  #typedValue(text: string): Due {
    const { step } = this;
    const value = typedNumber(text);
    if (!step) return null;
    if (typeof value === 'string') return value;
    return {
      changes: [{ kind: 'set-value', measurement: step.id, value }],
      announce: `${step.label} typed.`,
    };
  }

  /** Allows changes to a signed result. The result is then signed again, as amended. */
  amend(): void {
    this.#amending = true;
    this.#say('The result can be changed again. It remains signed until the first change.');
    this.#redraw();
  }

  leaveAsSigned(): void {
    this.endDragging();
    this.#amending = false;
    this.typing = null;
    this.#redraw();
  }

  /**
   * Signs the state that the reader has just read.
   * @param etag identifies the state that the summary describes.
   * @throws Error if anybody, including this reader, has changed the review since then.
   */
  async sign(etag: string): Promise<string> {
    const { around, requestId } = this.#parts;
    this.endDragging();
    await this.#queue;
    if (this.data?.etag !== etag) throw new Error(CHANGED_SINCE);
    try {
      const statement = this.statement.trim();
      this.#take(await around.api.signReview(requestId, etag, statement ? { statement } : {}));
    } catch (error) {
      if (!isStale(error)) throw error;
      await this.#load();
      throw new Error(CHANGED_SINCE);
    }
    this.statement = '';
    return 'The report has been signed.';
  }

  #redraw(): void {
    this.#parts.around.redraw();
  }

  #say(text: string, how?: 'now'): void {
    this.#parts.around.say(text, how);
  }

  #stepOf(id: string): ReviewStep | undefined {
    return this.steps.find((one) => one.id === id);
  }

  #drawnOf(id: string): { shapes: Shape[]; file: string; frame: number } | null {
    for (const [file, drawn] of Object.entries(this.data?.drawn ?? {})) {
      const found = drawn.find(({ measurement }) => measurement === id);
      if (found) return { shapes: found.shapes, file, frame: found.frame };
    }
    return null;
  }

  #lookAt(place: number): void {
    const next = this.steps[place];
    if (!next) return;
    this.endDragging();
    this.typing = null;
    this.#current = next.id;
    const drawn = next.draggable ? next.id : (next.others.find(({ file }) => file)?.id ?? next.id);
    if (next.file) this.show(next.file, next.frame, drawn);
    this.#redraw();
  }

  /** Called when somebody has opened, left or changed the review. */
  #hear({ etag, author, readers }: ReviewNews): void {
    if (!this.data) return;
    this.data = { ...this.data, readers };
    // While a change is being saved, nothing has to be loaded: the response to the change will
    // contain the newer state.
    if (etag !== this.data.etag && !this.saving) {
      void this.#load();
      // A summary that changes while it is read must not be signed by the next key press.
      if (this.asking.close('sign')) this.problem = CHANGED_SINCE;
      if (author && author !== this.person) this.#say(`${author} has changed this review.`);
    }
    this.#redraw();
  }

  /** Applies a response from the server, unless a newer one has already arrived. */
  #take(next: ReviewView): void {
    if (this.data && next.revision < this.data.revision) return;
    const isNewer = next.revision !== this.data?.revision;
    this.data = next;
    if (this.isSigned && isNewer) this.#amending = false;
    this.#parts.viewer()?.correct(next.drawn);
    this.#parts.changed(next);
  }

  async #load(): Promise<void> {
    const { around, requestId } = this.#parts;
    clearTimeout(this.#reloading);
    try {
      this.#take(await around.api.review(requestId));
      if (this.problem === this.#unloaded) this.problem = null;
      this.#unloaded = null;
    } catch (error) {
      // Results from an earlier release, or from requests made with test keys, cannot be reviewed.
      this.#unavailable =
        error instanceof ProblemError && error.problem.code === 'review_unavailable';
      if (!this.#unavailable) {
        this.#unloaded = sentence(error);
        this.problem = this.#unloaded;
        if (isPassing(error) && !this.#closed) {
          this.#reloading = setTimeout(() => void this.#load(), RELOADED_AFTER_MS);
        }
      }
    }
    this.#redraw();
  }

  /** Makes changes once the earlier ones have been saved. */
  #make(due: () => Due): Promise<Outcome> {
    const refusals = this.#refusals;
    const turn = async (): Promise<Outcome> => {
      const outcome = refusals === this.#refusals ? await this.#send(due()) : 'dropped';
      this.#unsaved -= 1;
      this.#redraw();
      return outcome;
    };
    this.#unsaved += 1;
    this.#redraw();
    const made = this.#queue.then(turn);
    this.#queue = made;
    return made;
  }

  async #send(due: Due): Promise<Outcome> {
    const { around, requestId } = this.#parts;
    if (due === null || !this.data) return 'nothing_to_do';
    if (typeof due === 'string') return this.#refused(due);
    this.problem = null;
    try {
      const asked = { changes: due.changes, amend: this.#amending };
      this.#take(await around.api.changeReview(requestId, this.data.etag, asked));
      this.#say(due.announce);
      return 'made';
    } catch (error) {
      if (!isStale(error)) return this.#refused(refusalText(error));
      await this.#load();
      return this.#refused(
        'Another reader has changed this review in the meantime. You now see its latest state; your last change was not saved.',
      );
    }
  }

  #refused(why: string): Outcome {
    this.#refusals += 1;
    this.problem = `${why}${this.#unsaved > 1 ? NOT_MADE_EITHER : ''}`;
    this.#say(this.problem, 'now');
    return 'refused';
  }

  /** Sends the latest shapes of the dragged values; intermediate moves are not sent. */
  #sendDragged(): void {
    clearTimeout(this.#settling);
    for (const { step } of this.#dragged.values()) void this.#sendShapesOf(step);
  }

  async #sendShapesOf(step: ReviewStep): Promise<void> {
    const outcome = await this.#make(() => {
      const points = this.#dragged.get(step.id)?.shapes[0]?.points;
      this.#dragged.delete(step.id);
      if (!points) return null;
      const kind = step.draggable === 'outline' ? 'set-outline' : 'move-calipers';
      return {
        changes: [{ kind, measurement: step.id, points } as Change],
        announce: `${step.label} was measured again.`,
      };
    });
    const now = this.#stepOf(step.id);
    if (outcome === 'made' && now) this.#say(`${now.label} ${now.text} ${now.unitText}`);
    if (outcome === 'refused' || outcome === 'dropped') {
      this.#dragged.delete(step.id);
      this.endDragging();
    }
  }
}

const typedNote = (text: string): Due => ({
  changes: [{ kind: 'note', text }],
  announce: 'Your line was added to the impression.',
});

/** Keeps the focus in the review when a field or a handle that had it has disappeared. */
const focusReview = (): void => keepFocus(() => document.getElementById('review-head'));

/** Returns true if the same call may succeed later: the gateway failed or was not reached. */
const isPassing = (error: unknown): boolean =>
  !(error instanceof ProblemError) || error.problem.status >= 500;

const isStale = (error: unknown): boolean =>
  error instanceof ProblemError && error.problem.code === 'stale_review';
