import type { Overlays } from '../../../../pipelines/artifacts/display/overlay-contract.ts';
import type {
  Artifact,
  ConsoleEvent,
  Delivery,
  ReleaseStudy,
  ResultView,
  StudyAction,
  StudyPage,
  WorklistRow,
} from '../contract.ts';
import { type Action, type Asking, createAsking, sentence } from './asking.ts';
import { bullsEyeView } from './bulls-eye.ts';
import { studyDeliveries, type TypedReasons } from './delivery-parts.ts';
import { dopplerView } from './doppler-trace.ts';
import { growthView } from './growth-chart.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { imagePanel } from './image-panel.ts';
import { ImageViewer } from './image-viewer.ts';
import type { KeyBinding } from './keyboard.ts';
import { createLoader, type Loader, shown } from './loading.ts';
import { measurementsView } from './measurements.ts';
import { deliveredSubject, destinationText } from './object-names.ts';
import type { OpenPage, Page, Surroundings } from './page.ts';
import { Review } from './review.ts';
import { reviewPanel } from './review-panel.ts';
import { addressOf } from './router.ts';
import { hasUnseenFlag, stateText, subjectText } from './row-words.ts';
import {
  artifactsView,
  earlierView,
  flagsView,
  headView,
  objectsView,
  progressView,
  reportView,
  sectionsView,
  summaryView,
  type Tab,
  tabsView,
  viewerLink,
} from './study-parts.ts';
import { timelineView } from './timeline.ts';
import { verdictsView } from './verdicts.ts';
import { type TypedWithdrawal, withdrawalAction, withdrawalView } from './withdrawal.ts';
import { counted } from './words.ts';

/** Text typed next to a question. It is kept while the page is redrawn. */
interface Typed {
  reason: string;
  rule: string;
  under: ReleaseStudy['under'];
}

const missing = (what: string): never => {
  throw new Error(`This requires a ${what}, and there is none.`);
};

/**
 * Returns the actions that are possible now. The server determines them from the role and the
 * state.
 */
function studyActions(
  { row, study, actions, requests }: StudyPage,
  { api }: Pick<Surroundings, 'api'>,
  typed: Typed,
  changed: (row: WorklistRow) => void,
): Action[] {
  const studyId = () => study?.id ?? missing('study');
  const requestId = () => row.requestId ?? missing('request');
  const done = (answer: WorklistRow, text: string) => {
    changed(answer);
    return text;
  };
  const all: Record<StudyAction, Omit<Action, 'id'>> = {
    acknowledge: {
      label: 'I have seen the flags',
      question:
        'Record that you have seen the critical flags? No further mail will be sent about them.',
      run: async () => {
        const open = row.critical.filter(({ seenBy }) => seenBy === null);
        let answer = row;
        for (const id of new Set(open.map(({ requestId: of }) => of))) {
          answer = await api.acknowledge(id);
        }
        return done(answer, 'Your name and the time have been recorded.');
      },
    },
    complete: {
      label: 'Complete now',
      question: 'Stop waiting for more images and interpret those that have arrived?',
      run: async () => done(await api.complete(studyId()), 'The study is now treated as complete.'),
    },
    rerun: {
      label: 'Run again',
      question: requests.some(({ signed }) => signed)
        ? 'Interpret all images again? A signed report exists and stays until the new result is signed as well.'
        : 'Interpret all images again? The new draft will replace the previous one.',
      run: async () => done(await api.rerun(studyId()), 'The study will be interpreted again.'),
    },
    cancel: {
      label: 'Cancel',
      question: 'Cancel the run? No result will be sent.',
      confirm: 'Cancel the run',
      danger: true,
      run: async () => done(await api.cancel(requestId()), 'The run has been cancelled.'),
    },
    hold: {
      label: 'Hold',
      question: 'Hold the study until it is released, because',
      fields: html`<input
        aria-label="Reason"
        .value=${typed.reason}
        @input=${(event: Event) => {
          if (event.target instanceof HTMLInputElement) typed.reason = event.target.value;
        }}
      />`,
      run: async () =>
        done(await api.hold(studyId(), { reason: typed.reason.trim() }), 'The study is held.'),
    },
    release: {
      label: 'Release',
      question: 'Release the study to',
      fields: html`${ruleChoice(study?.releasableTo ?? [], typed)}
        ${study?.perhapsMerged ? patientChoice(typed) : nothing}`,
      run: async () => {
        const under = study?.perhapsMerged ? typed.under : null;
        const answer = await api.release(studyId(), { rule: typed.rule || null, under });
        return done(answer, 'The study is released.');
      },
    },
  };
  return actions.map((action) => ({ id: action, ...all[action] }));
}

/**
 * Renders the choice of the rule to which a study is released. If the question was cancelled and is
 * asked again, the rule that was chosen before is selected, because it would still be sent.
 */
export const ruleChoice = (
  rules: readonly string[],
  typed: Pick<Typed, 'rule'>,
): TemplateResult => html`<select
  aria-label="Rule"
  @change=${(event: Event) => {
    if (event.target instanceof HTMLSelectElement) typed.rule = event.target.value;
  }}
>
  <option value="" ?selected=${typed.rule === ''}>according to the rules</option>
  ${rules.map((rule) => html`<option value=${rule} ?selected=${rule === typed.rule}>${rule}</option>`)}
</select>`;

/**
 * Renders the choice of a patient ID for a study whose birth date differs from the surviving
 * patient's.
 */
const patientChoice = (typed: Typed) => html`<select
  aria-label="Patient ID"
  .value=${typed.under ?? ''}
  @change=${(event: Event) => {
    if (!(event.target instanceof HTMLSelectElement)) return;
    const { value } = event.target;
    typed.under = value === 'surviving-id' || value === 'own-id' ? value : null;
  }}
>
  <option value="">choose the patient ID…</option>
  <option value="surviving-id">same person: under the surviving ID</option>
  <option value="own-id">another person: keep its patient ID</option>
</select>`;

/**
 * Returns the overlays with image contents in words rather than ids, including the side of a paired
 * vessel.
 */
export function inWords(
  overlays: Overlays,
  { viewNames, sides }: Pick<ResultView, 'viewNames' | 'sides'>,
): Overlays {
  const worded = (view: string | null, file: string): string | null => {
    const name = view === null ? undefined : viewNames[view];
    if (!name) return view;
    const side = sides[file] ? `, ${sides[file]}` : '';
    return `${name.charAt(0).toUpperCase()}${name.slice(1)}${side}`;
  };
  return {
    ...overlays,
    clips: overlays.clips.map((clip) => ({
      ...clip,
      view: worded(clip.view, clip.file),
      key_frames: clip.key_frames.map((key) => ({ ...key, view: worded(key.view, clip.file) })),
    })),
  };
}

function onlyReadersChanged(before: WorklistRow, row: WorklistRow): boolean {
  const { readers, changedAt } = before;
  return JSON.stringify({ ...row, readers, changedAt }) === JSON.stringify(before);
}

/** A finished request with its result; `overlays` is null if none were stored. */
interface Shown {
  requestId: string;
  result: ResultView;
  overlays: Overlays | null;
  viewer: ImageViewer;
  review: Review;
  /**
   * The earlier study's images, shown next to those of this study; null until the reader opens
   * them.
   */
  earlier: ImageViewer | null;
}

const OVERLAYS = 'overlays.json';

/** Opens the page of one study, from its first object to the EHR's acknowledgement. */
export const openStudy: OpenPage = (place, around) => new StudyScreen(place.id, around);

class StudyScreen implements Page {
  readonly #key: string;
  readonly #around: Surroundings;
  readonly #study: Loader<StudyPage>;
  readonly #asking: Asking;
  readonly #typed: Typed = { reason: '', rule: '', under: null };
  readonly #wrong: TypedWithdrawal = { reason: '', text: '' };
  readonly #reasons: TypedReasons = new Map();
  /** Ids of the measurement rows that are expanded to show their repeats. */
  readonly #opened = new Set<string>();
  #seen: Shown | null = null;
  /** Id of the request whose result is being fetched; null while nothing is being fetched. */
  #fetching: string | null = null;
  #problem: string | null = null;
  /** The request that the reader chose; null to show the newest request. */
  #chosen: string | null = null;
  #tab = location.hash.slice(1);
  #closed = false;

  constructor(key: string, around: Surroundings) {
    this.#key = key;
    this.#around = around;
    this.#asking = createAsking(around);
    this.#study = createLoader<StudyPage>(() => this.#loadStudy(), around.redraw);
    void this.#study.load();
  }

  title(): string {
    const { value } = this.#study;
    return value ? subjectText(value.row.subject) : 'Study';
  }

  get keys(): KeyBinding[] {
    const { go } = this.#around;
    return [
      ...(this.#seen?.viewer.keys ?? []),
      ...(this.#seen?.review.keys ?? []),
      { key: 'u', does: 'back to the worklist', run: () => go(addressOf('worklist')) },
    ];
  }

  view(): TemplateResult {
    return html`<div class="study">${shown(this.#study, (page) => this.#pageView(page))}</div>`;
  }

  changed(event: ConsoleEvent): void {
    if (event.type === 'reset') void this.#study.load();
    if (event.type === 'row' && event.data.row.key === this.#key) this.#rowChanged(event.data.row);
    if (event.type === 'delivery' && event.data.key === this.#key) {
      this.#deliveryChanged(event.data);
    }
  }

  close(): void {
    this.#closed = true;
    this.#closeShown();
  }

  #closeShown(): void {
    this.#seen?.viewer.close();
    this.#seen?.earlier?.close();
    this.#seen?.review.close();
  }

  async #loadStudy(): Promise<StudyPage> {
    const page = await this.#around.api.study(this.#key);
    void this.#loadResult(page);
    return page;
  }

  async #loadResult({ requests }: StudyPage): Promise<void> {
    const { api, redraw } = this.#around;
    const request = requests.find(({ id }) => id === this.#chosen) ?? requests[0];
    if (request?.state !== 'succeeded' || request.id === this.#fetching) return;
    if (request.id === this.#seen?.requestId) {
      // The reader has returned to the shown result while another one was being fetched.
      this.#fetching = null;
      return;
    }
    this.#fetching = request.id;
    // The server lists a person among the readers of a result as long as the result is open. A
    // result that arrives after the page was left is therefore not opened.
    const isAwaited = () => this.#fetching === request.id && !this.#closed;
    try {
      const [result, stored] = await Promise.all([
        api.result(request.id),
        this.#overlaysOf(request.id, request.artifacts),
      ]);
      if (!isAwaited()) return;
      this.#closeShown();
      this.#seen = this.#shownOf(request.id, result, stored && inWords(stored, result));
      this.#problem = null;
    } catch (error) {
      if (!isAwaited()) return;
      this.#problem = sentence(error);
    }
    this.#fetching = null;
    redraw();
  }

  #shownOf(requestId: string, result: ResultView, overlays: Overlays | null): Shown {
    const viewer = new ImageViewer({
      requestId,
      clips: overlays?.clips ?? [],
      sections: result.sections,
      redraw: this.#around.redraw,
      name: 'images',
      turned: () => this.#seen?.earlier?.showLike(viewer.shown()?.view ?? null),
    });
    const review = new Review({
      requestId,
      around: this.#around,
      viewer: () => (this.#seen?.requestId === requestId ? viewer : null),
      changed: (reviewed) => {
        if (this.#seen?.requestId === requestId) this.#seen.result = reviewed.result;
      },
    });
    return { requestId, result, overlays, viewer, review, earlier: null };
  }

  #overlaysOf(request: string, artifacts: readonly Artifact[]): Promise<Overlays> | null {
    const drawn = artifacts.some(({ name }) => name === OVERLAYS);
    return drawn ? this.#around.api.artifact<Overlays>(request, OVERLAYS) : null;
  }

  /** Opens or closes the earlier study's images next to those of this study. */
  async #compare(seen: Shown): Promise<void> {
    const { api, redraw } = this.#around;
    const { result, earlier, viewer } = seen;
    if (!result.prior) return;
    if (earlier) {
      earlier.close();
      seen.earlier = null;
      return redraw();
    }
    try {
      const { requestId } = result.prior;
      const before = await api.result(requestId);
      const stored = await this.#overlaysOf(requestId, before.artifacts);
      if (this.#closed || this.#seen !== seen || seen.earlier) return;
      seen.earlier = new ImageViewer({
        requestId,
        clips: stored ? inWords(stored, before).clips : [],
        sections: before.sections,
        redraw,
        name: 'earlier-images',
      });
      seen.earlier.showLike(viewer.shown()?.view ?? null);
    } catch (error) {
      this.#problem = sentence(error);
    }
    redraw();
  }

  #rowChanged(row: WorklistRow): void {
    const { say } = this.#around;
    const page = this.#study.value;
    if (!page) return;
    const before = page.row;
    this.#study.set({ ...page, row });
    if (hasUnseenFlag(row) && !hasUnseenFlag(before)) {
      say(`Critical: ${row.critical.map(({ text }) => text).join('; ')}`, 'now');
    } else if (row.state !== before.state) say(`The study is now: ${stateText(row)}`);
    if (!onlyReadersChanged(before, row)) void this.#study.load();
  }

  #deliveryChanged(delivery: Delivery): void {
    const page = this.#study.value;
    if (!page) return;
    const known = page.deliveries.some(({ id }) => id === delivery.id);
    const deliveries = known
      ? page.deliveries.map((one) => (one.id === delivery.id ? delivery : one))
      : [...page.deliveries, delivery];
    this.#study.set({ ...page, deliveries });
    if (delivery.state === 'dead') {
      this.#around.say(
        `${deliveredSubject(delivery)} could not be delivered to ${destinationText(delivery.destination)}.`,
      );
    }
    void this.#study.load();
  }

  #pageView(page: StudyPage): TemplateResult {
    const seen = this.#seen;
    const older = seen !== null && seen.requestId !== page.requests[0]?.id;
    const request = page.requests.find(({ id }) => id === seen?.requestId) ?? page.requests[0];
    const withdrawal = request?.withdrawal ?? null;
    const actions = [
      ...studyActions(page, this.#around, this.#typed, (row) => this.#rowChanged(row)),
      ...withdrawalAction(page, request, this.#around, this.#wrong, (row) => {
        this.#rowChanged(row);
        void this.#study.load();
      }),
    ];
    return html`${headView(page, {
      actions: html`${viewerLink(page)} ${actions.map(this.#asking.view)}`,
      result: seen?.result ?? null,
      choose: (id) => {
        this.#chosen = id;
        void this.#loadResult(page);
      },
      chosen: seen?.requestId ?? null,
      review: withdrawal
        ? 'withdrawn'
        : (seen?.review.data?.state ?? (seen?.result.draft === false ? 'signed' : null)),
    })}
      ${withdrawalView(withdrawal)} ${flagsView(page.row)} ${progressView(page)}
      ${this.#problem ? html`<p class="problem" role="alert">${this.#problem}</p>` : nothing}
      ${older ? html`<p class="notice">This draft is from an earlier run.</p>` : nothing}
      ${seen?.result.researchNotice ? html`<p class="notice">${seen.result.researchNotice}.</p>` : nothing}
      ${
        seen
          ? html`<div class="columns">
              <div>${this.#imagesView(seen)}</div>
              <div>
                ${withdrawal ? nothing : reviewPanel(seen.review)}
                ${summaryView(seen.result, seen.result.measurements, ({ file, frame, id }) => showOn(seen, file, frame, id))}
                ${earlierView(page)}
              </div>
            </div>`
          : earlierView(page)
      }
      ${tabsView([...(seen ? this.#resultTabs(seen, withdrawal !== null) : []), ...this.#siteTabs(page)], this.#tab, (id) => this.#openTab(id))}`;
  }

  #imagesView(seen: Shown): TemplateResult {
    const { result, viewer, earlier } = seen;
    const { prior } = result;
    return html`<div class=${earlier ? 'beside' : ''}>
        ${imagePanel(viewer)} ${earlier ? imagePanel(earlier) : nothing}
      </div>
      ${
        prior
          ? html`<button type="button" class="compare" aria-pressed=${earlier !== null} @click=${() => void this.#compare(seen)}>
              Compare with the study ${counted(prior.daysBefore, 'day')} earlier
            </button>`
          : nothing
      }`;
  }

  #openTab(id: string): void {
    this.#tab = id;
    this.#around.restate(`${location.pathname}#${id}`);
    this.#around.redraw();
  }

  /** Returns the tabs for readers, which show the content of the result. */
  #resultTabs(seen: Shown, withdrawn: boolean): Tab[] {
    const { result, overlays, viewer } = seen;
    const charts = [
      growthView(overlays?.growth ?? null, result.measurements),
      dopplerView(overlays?.clips ?? [], (file, frame) => showOn(seen, file, frame, null)),
      bullsEyeView(result),
    ].filter((one) => one !== nothing);
    const table = () =>
      measurementsView({
        result,
        onImage: ({ file, frame }) => frame !== null && viewer.has(file),
        show: ({ file, frame, id }) => showOn(seen, file, frame, id),
        opened: this.#opened,
        toggle: (row) => {
          if (!this.#opened.delete(row)) this.#opened.add(row);
          this.#around.redraw();
        },
      });
    return [
      { id: 'measurements', text: 'Measurements', view: table },
      ...(charts.length > 0 ? [{ id: 'charts', text: 'Charts', view: () => charts }] : []),
      { id: 'findings', text: 'Findings', view: () => sectionsView(result) },
      { id: 'report', text: 'Report', view: () => reportView(result, withdrawn) },
    ];
  }

  /** Returns the tabs for operators, which show how and why the study was processed. */
  #siteTabs(page: StudyPage): Tab[] {
    const request = page.requests.find(({ id }) => id === this.#seen?.requestId);
    const { study: received } = page;
    const changed = (delivery: Delivery) => this.#deliveryChanged(delivery);
    const tabs: Tab[] = [
      { id: 'timeline', text: 'Timeline', view: () => timelineView(page.timeline) },
      {
        id: 'deliveries',
        text: 'Deliveries',
        view: () =>
          studyDeliveries(page.deliveries, {
            around: this.#around,
            asking: this.#asking,
            typed: this.#reasons,
            changed,
          }),
      },
      {
        id: 'files',
        text: 'Files',
        view: () => html`${request ? artifactsView(request) : nothing}
          ${received ? objectsView(received) : nothing}`,
      },
    ];
    if (received) tabs.push({ id: 'rule', text: 'Rules', view: () => rulesView(received) });
    return tabs;
  }
}

/** Shows a measurement on its image, if the image was kept. */
function showOn(
  { viewer }: Shown,
  file: string | null,
  frame: number | null,
  measurement: string | null,
): void {
  if (file && viewer.show(file, frame, measurement)) {
    document.getElementById('images')?.scrollIntoView({ block: 'nearest' });
  }
}

function rulesView({
  rules,
  chosenRule,
}: Pick<NonNullable<StudyPage['study']>, 'rules' | 'chosenRule'>): TemplateResult {
  return html`<section class="panel" aria-labelledby="rule-head">
    <header><h2 id="rule-head">Why this rule</h2></header>
    ${chosenRule ? html`<p>A person released this study to the rule ${chosenRule}.</p>` : nothing}
    ${verdictsView(rules)}
  </section>`;
}
