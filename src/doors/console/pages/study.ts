import type { Overlays } from '../../../../pipelines/artifacts/display/overlay-contract.ts';
import type {
  ConsoleEvent,
  Delivery,
  ResultView,
  StudyAction,
  StudyPage,
  WorklistRow,
} from '../contract.ts';
import { type Action, createAsking } from './asking.ts';
import { bullsEyeView } from './bulls-eye.ts';
import { studyDeliveries } from './delivery-parts.ts';
import { dopplerView } from './doppler-trace.ts';
import { growthView } from './growth-chart.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { createImageViewer, type ImageViewer } from './image-viewer.ts';
import { createLoader, shown } from './loading.ts';
import { measurementsView } from './measurements.ts';
import type { OpenPage, Surroundings } from './page.ts';
import { addressOf } from './router.ts';
import { hasUnseenFlag, subjectText } from './row-words.ts';
import {
  artifactsView,
  earlierView,
  flagsView,
  headView,
  objectsView,
  progressView,
  reportView,
  sectionsView,
} from './study-parts.ts';
import { timelineView } from './timeline.ts';
import { verdictsView } from './verdicts.ts';

/** Text typed beside a question; kept while the page is redrawn. */
export interface Typed {
  reason: string;
  rule: string;
}

const missing = (what: string): never => {
  throw new Error(`There is no ${what} to do this with.`);
};

/** The actions that are possible now; the server decides by role and state. */
function studyActions(
  { row, study, actions }: StudyPage,
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
      question: 'Write down that you have seen the critical flags?',
      run: async () =>
        done(await api.acknowledge(requestId()), 'Written down that you have seen the flags.'),
    },
    complete: {
      label: 'Complete now',
      question: 'No more images are coming: interpret what is there?',
      run: async () => done(await api.complete(studyId()), 'The study counts as complete.'),
    },
    rerun: {
      label: 'Run again',
      question: 'Interpret all images again? The new draft replaces the former.',
      run: async () => done(await api.rerun(studyId()), 'The study is interpreted again.'),
    },
    cancel: {
      label: 'Cancel',
      question: 'End the run? Nothing is sent.',
      confirm: 'End the run',
      danger: true,
      run: async () => done(await api.cancel(requestId()), 'The run is ended.'),
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
      fields: html`<select
        aria-label="Rule"
        @change=${(event: Event) => {
          if (event.target instanceof HTMLSelectElement) typed.rule = event.target.value;
        }}
      >
        <option value="">what the rules say</option>
        ${study?.releasableTo.map((rule) => html`<option value=${rule}>${rule}</option>`)}
      </select>`,
      run: async () =>
        done(await api.release(studyId(), { rule: typed.rule || null }), 'The study is released.'),
    },
  };
  return actions.map((action) => ({ id: action, ...all[action] }));
}

/**
 * Pure: overlays with the content of each image in words, because a result names it only by an id.
 */
export function inWords(overlays: Overlays, names: ResultView['viewNames']): Overlays {
  const worded = <Shown extends { view: string | null }>(shown: Shown): Shown => {
    const name = shown.view === null ? undefined : names[shown.view];
    return name ? { ...shown, view: name.charAt(0).toUpperCase() + name.slice(1) } : shown;
  };
  return {
    ...overlays,
    clips: overlays.clips.map((clip) =>
      worded({ ...clip, key_frames: clip.key_frames.map(worded) }),
    ),
  };
}

/** The data of a finished request; its pictures may be missing when none were kept. */
interface Shown {
  requestId: string;
  result: ResultView;
  overlays: Overlays | null;
  viewer: ImageViewer;
}

const OVERLAYS = 'overlays.json';

/** One study, from its first object to the acknowledgement of the EHR. */
export const openStudy: OpenPage = (place, around) => {
  const { api, redraw, say, go } = around;
  const study = createLoader<StudyPage>(loadStudy, redraw);
  const asking = createAsking(around);
  const typed = { reason: '', rule: '' };
  const opened = new Set<string>();
  let seen: Shown | null = null;
  let problem: string | null = null;
  /** The request that the reader chose; null to show the newest request. */
  let chosen: string | null = null;

  async function loadStudy(): Promise<StudyPage> {
    const page = await api.study(place.id);
    void loadResult(page);
    return page;
  }

  async function loadResult({ requests }: StudyPage): Promise<void> {
    const request = requests.find(({ id }) => id === chosen) ?? requests[0];
    if (request?.state !== 'succeeded' || request.id === seen?.requestId) return;
    try {
      const drawn = request.artifacts.some(({ name }) => name === OVERLAYS);
      const [result, stored] = await Promise.all([
        api.result(request.id),
        drawn ? api.artifact<Overlays>(request.id, OVERLAYS) : null,
      ]);
      const overlays = stored && inWords(stored, result.viewNames);
      seen?.viewer.close();
      const viewer = createImageViewer(request.id, overlays?.clips ?? [], redraw);
      seen = { requestId: request.id, result, overlays, viewer };
      problem = null;
    } catch (error) {
      problem = String(error instanceof Error ? error.message : error);
    }
    redraw();
  }

  function rowChanged(row: WorklistRow): void {
    const page = study.value;
    if (!page) return;
    const before = page.row;
    study.set({ ...page, row });
    if (hasUnseenFlag(row) && !hasUnseenFlag(before)) {
      say(`Critical: ${row.critical.map(({ text }) => text).join('; ')}`, 'now');
    } else if (row.state !== before.state) say(`The study is now: ${row.state}`);
    void study.load();
  }

  function deliveryChanged(delivery: Delivery): void {
    const page = study.value;
    if (!page) return;
    const known = page.deliveries.some(({ id }) => id === delivery.id);
    const deliveries = known
      ? page.deliveries.map((one) => (one.id === delivery.id ? delivery : one))
      : [...page.deliveries, delivery];
    study.set({ ...page, deliveries });
    if (delivery.state === 'dead') say(`${delivery.object} did not reach ${delivery.destination}`);
    void study.load();
  }

  function changed(event: ConsoleEvent): void {
    if (event.type === 'reset') void study.load();
    if (event.type === 'row' && event.data.row.key === place.id) rowChanged(event.data.row);
    if (event.type === 'delivery' && event.data.key === place.id) deliveryChanged(event.data);
  }

  function show(file: string | null, frame: number | null, measurement: string | null): void {
    if (file && seen?.viewer.show(file, frame, measurement)) {
      document.getElementById('images')?.scrollIntoView({ block: 'nearest' });
    }
  }

  function resultView({ result, overlays, viewer }: Shown): TemplateResult {
    return html`${viewer.view()} ${reportView(result)}
      ${measurementsView({
        result,
        onImage: ({ file, frame }) => frame !== null && viewer.has(file),
        show: ({ file, frame, id }) => show(file, frame, id),
        opened,
        toggle(row) {
          if (!opened.delete(row)) opened.add(row);
          redraw();
        },
      })}
      ${growthView(overlays?.growth ?? null, result.measurements)}
      ${dopplerView(overlays?.clips ?? [], (file, frame) => show(file, frame, null))}
      ${bullsEyeView(result)} ${sectionsView(result)}`;
  }

  function pageView(page: StudyPage): TemplateResult {
    const request = page.requests.find(({ id }) => id === (seen?.requestId ?? ''));
    const older = request !== undefined && request !== page.requests[0];
    const actions = studyActions(page, around, typed, rowChanged);
    return html`${headView(page, {
      actions: html`${actions.map(asking.view)}`,
      result: seen?.result ?? null,
      choose(id) {
        chosen = id;
        void loadResult(page);
      },
      chosen: seen?.requestId ?? null,
    })}
      ${flagsView(page.row)} ${progressView(page)}
      <div class="columns">
        <div>
          ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
          ${older ? html`<p class="notice">This is the draft of a former run.</p>` : nothing}
          ${seen ? resultView(seen) : nothing}
        </div>
        <div>
          ${timelineView(page.timeline)}
          ${studyDeliveries(page.deliveries, around, asking, deliveryChanged)}
          ${request ? artifactsView(request.id, request.artifacts) : nothing}
          ${
            page.study
              ? html`<section class="panel" id="rule" aria-labelledby="rule-head">
                    <header><h2 id="rule-head">Why this rule</h2></header>
                    ${verdictsView(page.study.rules)}
                  </section>
                  ${objectsView(page.study)}`
              : nothing
          }
          ${earlierView(page)}
        </div>
      </div>`;
  }

  void study.load();

  return {
    title: () => (study.value ? subjectText(study.value.row.subject) : 'Study'),
    get keys() {
      return [
        ...(seen?.viewer.keys ?? []),
        { key: 'u', does: 'back to the worklist', run: () => go(addressOf('worklist')) },
      ];
    },
    changed,
    close: () => seen?.viewer.close(),
    view: () => html`<div class="study">${shown(study, pageView)}</div>`,
  };
};
