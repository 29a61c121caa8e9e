import type { Artifact } from '../contract.ts';
import { artifactUrl } from './api.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { counted } from './words.ts';

const UNITS = ['bytes', 'kB', 'MB', 'GB'] as const;

/** Pure: a size for people, in steps of a thousand. */
export function sizeText(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const size = bytes / 1000 ** step;
  return `${step === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${UNITS[step]}`;
}

/** Pictures are many and stand on the page already. */
const isPicture = ({ name }: Artifact): boolean => /^(key-frame|cine|overlay)-.*\d/.test(name);

function listView(requestId: string, artifacts: readonly Artifact[]): TemplateResult {
  return html`<ul class="artifacts">
    ${artifacts.map(
      ({ name, bytes }) => html`<li>
        <a href=${`${artifactUrl(requestId, name)}?download=1`} download=${name}>${name}</a>
        <span class="small soft">${sizeText(bytes)}</span>
      </li>`,
    )}
  </ul>`;
}

/** What the request left behind, to be kept as a file. */
export function artifactsView(requestId: string, artifacts: readonly Artifact[]): TemplateResult {
  const pictures = artifacts.filter(isPicture);
  const documents = artifacts.filter((artifact) => !isPicture(artifact));
  return html`<section class="panel" id="artifacts" aria-labelledby="artifacts-head">
    <header>
      <h2 id="artifacts-head">Files</h2>
      <span class="small soft push">without identity</span>
    </header>
    ${listView(requestId, documents)}
    ${
      pictures.length > 0
        ? html`<details>
            <summary>${counted(pictures.length, 'picture')}</summary>
            ${listView(requestId, pictures)}
          </details>`
        : nothing
    }
  </section>`;
}
