import type { Overlays } from '../../../pipelines/artifacts/display/overlay-contract.ts';
import type { ConsoleEvent, Delivery, ResultView, StudyPage, WorklistRow } from '../contract.ts';
import { artifactsView } from './artifacts.ts';
import { createAsking } from './asking.ts';
import { bullsEyeView } from './bulls-eye.ts';
import { studyDeliveries } from './delivery-parts.ts';
import { dopplerView } from './doppler-trace.ts';
import { growthView } from './growth-chart.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { createImageViewer, type ImageViewer } from './image-viewer.ts';
import { createLoader, shown } from './loading.ts';
import { measurementsView } from './measurements.ts';
import type { OpenPage } from './page.ts';
import { reportView } from './report-draft.ts';
import { addressOf } from './router.ts';
import { hasUnseenFlag, subjectText } from './row-words.ts';
import { sectionsView } from './sections.ts';
import { studyActions } from './study-actions.ts';
import { earlierView, flagsView, headView, objectsView, progressView } from './study-parts.ts';
import { timelineView } from './timeline.ts';
import { verdictsView } from './verdicts.ts';
import { inWords } from './view-words.ts';

/** What a finished request shows; its pictures may be missing where none were kept. */
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
  /** A request chosen by the reader; null: the newest. */
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
