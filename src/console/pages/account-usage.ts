import type { Retention, Usage } from '../contract.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { createLoader, shown } from './loading.ts';
import type { Surroundings } from './page.ts';
import { dateText } from './times.ts';
import { counted, given } from './words.ts';

/** Requests and cost by key and month. */
export function usagePart({ api, redraw }: Surroundings): () => TemplateResult {
  const usage = createLoader<Usage[]>(() => api.usage(), redraw);
  void usage.load();
  const rowView = ({ month, key, requests, succeeded, cost }: Usage) => html`<tr>
    <th scope="row">${month}</th>
    <td>${key ? given(key.name) : html`<span class="soft">studies by DICOM</span>`}</td>
    <td class="number">${requests.toLocaleString('en')}</td>
    <td class="number">${succeeded.toLocaleString('en')}</td>
    <td class="number">${cost.total} ${cost.currency}</td>
  </tr>`;
  return () => html`<section class="panel" aria-labelledby="usage-head">
    <header><h2 id="usage-head">Usage and cost</h2></header>
    ${shown(usage, (all) =>
      all.length === 0
        ? html`<p class="soft">Nothing has run yet.</p>`
        : html`<div class="scrolls">
            <table>
              <thead>
                <tr>
                  <th scope="col">Month</th>
                  <th scope="col">Key</th>
                  <th scope="col" class="number">Requests</th>
                  <th scope="col" class="number">Succeeded</th>
                  <th scope="col" class="number">Cost</th>
                </tr>
              </thead>
              <tbody>${all.map(rowView)}</tbody>
            </table>
          </div>`,
    )}
  </section>`;
}

/** How long results are kept, and which go next. */
export function retentionPart({ api, redraw }: Surroundings): () => TemplateResult {
  const retention = createLoader<Retention>(() => api.retention(), redraw);
  void retention.load();
  return () => html`<section class="panel" aria-labelledby="retention-head">
    <header><h2 id="retention-head">Retention</h2></header>
    ${shown(
      retention,
      ({ days, kept, nextPurgeAt, purged, oldestResultAt }) => html`<dl class="facts">
        <dt>Kept after the end</dt>
        <dd>${counted(days, 'day')}</dd>
        <dt>Results that are kept</dt>
        <dd>${kept.toLocaleString('en')}${oldestResultAt ? `, the oldest of ${dateText(oldestResultAt)}` : ''}</dd>
        ${nextPurgeAt ? html`<dt>The next go</dt><dd>${dateText(nextPurgeAt)}</dd>` : nothing}
        <dt>Purged so far</dt>
        <dd>${purged.toLocaleString('en')}</dd>
      </dl>`,
    )}
  </section>`;
}
