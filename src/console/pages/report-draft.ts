import type { ResultView } from '../contract.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { chip } from './words.ts';

/** Stands wherever a result stands: nobody has verified it. */
export function draftMark(): TemplateResult {
  return chip('attention', 'Draft, not verified');
}

function part(title: string, lines: readonly string[]): TemplateResult | typeof nothing {
  if (lines.length === 0) return nothing;
  return html`<h3>${title}</h3>
    <ul class="prose">${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}

function folded(title: string, lines: readonly string[]): TemplateResult | typeof nothing {
  if (lines.length === 0) return nothing;
  return html`<details>
    <summary>${title} (${lines.length})</summary>
    <ul class="prose small">${lines.map((line) => html`<li>${line}</li>`)}</ul>
  </details>`;
}

/** The text of the report as the PDF has it: impression first, limits last. */
export function reportView({ report, models }: ResultView): TemplateResult | typeof nothing {
  if (!report) return nothing;
  return html`<section class="panel report" id="report" aria-labelledby="report-head">
    <header><h2 id="report-head">${report.title}</h2><span class="push">${draftMark()}</span></header>
    ${part('Impression', report.impression)}
    ${folded('Findings', report.findings)} ${folded('Limitations', report.limitations)}
    <details>
      <summary>Models (${models.length})</summary>
      <ul class="prose small">
        ${models.map(
          ({ id, version, licence, pack, provider }) =>
            html`<li>${id} ${version}, ${licence}, pack ${pack}, on ${provider}</li>`,
        )}
      </ul>
    </details>
  </section>`;
}
