import type { Quarantined } from '../contract.ts';
import { createAsking, sentence } from './asking.ts';
import { html, nothing, repeat, type TemplateResult } from './html.ts';
import { createLoader, shown } from './loading.ts';
import { may, type Surroundings } from './page.ts';
import { sizeText } from './study-parts.ts';
import { chip, counted, given, momentText } from './words.ts';

/** The part of the held reports page that lists received objects that could not be recorded. */
interface QuarantineList {
  load(): Promise<void>;
  view(): TemplateResult | typeof nothing;
}

export function openQuarantine(around: Surroundings): QuarantineList {
  const { api } = around;
  const objects = createLoader<Quarantined[]>(() => api.quarantine(), around.redraw);
  const asking = createAsking(around);

  /**
   * Why the last action failed. It is shown above the list, because an object that is quarantined
   * again gets a new id.
   */
  let problem: string | null = null;

  async function attempt(change: Promise<void>, done: string): Promise<string> {
    problem = await change.then(() => null, sentence);
    await objects.load();
    return problem ?? done;
  }

  const actions = ({ id, source }: Quarantined): TemplateResult => html`<div class="row">
    ${
      source === null
        ? nothing
        : asking.view({
            id: `register ${id}`,
            label: 'Register again',
            question:
              'Register this object as if it had just arrived? If it still cannot be read, it will return to quarantine.',
            run: () =>
              attempt(api.registerQuarantined(id), 'The object has been added to its study.'),
          })
    }
    ${asking.view({
      id: `remove ${id}`,
      label: 'Remove',
      question: 'Delete this object permanently?',
      danger: true,
      run: () => attempt(api.removeQuarantined(id), 'The object has been deleted.'),
    })}
  </div>`;

  const row = (object: Quarantined): TemplateResult => html`<li class="panel">
    <div class="row">
      <h3>${given(object.source ?? 'Unknown source')}</h3>
      <span class="soft">${given(object.callingAeTitle ?? '')}</span>
      ${chip('attention', object.title ?? 'No reason recorded')}
      <span class="small soft push">${sizeText(object.bytes)}, ${momentText(object.at)}</span>
    </div>
    ${object.detail ? html`<p class="small soft">${given(object.detail)}</p>` : nothing}
    <p class="small soft"><code>quarantine/${object.id}.dcm</code></p>
    ${may(around, 'run') ? actions(object) : nothing}
  </li>`;

  return {
    load: () => objects.load(),
    view: () =>
      objects.value?.length === 0 && objects.problem === null && problem === null
        ? nothing
        : html`<section aria-labelledby="quarantine">
            <h2 id="quarantine">Quarantined objects</h2>
            ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
            ${shown(
              objects,
              (all) => html`<p class="soft">
                  ${counted(all.length, 'received object')} could not be registered and so are not part of any study.
                  Inspect the files in the data folder of this machine with a DICOM tool.
                </p>
                <ul class="holds">
                  ${repeat(all, ({ id }) => id, row)}
                </ul>`,
            )}
          </section>`,
  };
}
