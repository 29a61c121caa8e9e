import { conceptEntry } from '../../pipelines/concepts/concepts.ts';
import {
  EVIDENCE,
  EVIDENCE_OF,
  type EvidenceEntry,
  LEAST_CASES,
  reviewReason,
} from '../../pipelines/concepts/method-evidence.ts';
import { echoEndpoint } from '../../pipelines/echo/endpoint.ts';
import { obstetricEndpoint } from '../../pipelines/obstetric/endpoint.ts';
import { REVIEW_TEXT } from '../../pipelines/result/render/shared.ts';
import { unitText } from '../../pipelines/result/render/unit-text.ts';

const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

const ENTRIES: readonly EvidenceEntry[] = Object.values(EVIDENCE);

function errorText({ error }: EvidenceEntry): string {
  if (!error) return 'not compared';
  const { value, unit, of, limit } = error;
  const unitOf = unit === '1' ? '' : ` ${unitText(unit)}`;
  return `${value}${unitOf} (${of}; limit ${limit})`;
}

/** Describes whether values from this method are accepted and, if not, why. */
function statusText(entry: EvidenceEntry): string {
  const reason = reviewReason(entry);
  return reason === null ? '**accepted**' : `review: ${REVIEW_TEXT[reason]}`;
}

const sourceText = ({ source }: EvidenceEntry): string => {
  const [model = '', path] = source.split('#');
  if (path !== undefined) return `[metrics](../models/${model}/metrics.json)`;
  return source === 'docs/evidence.md' ? '' : `[page](${source.replace('docs/', '')})`;
};

/**
 * Formats the half-widths of the 95 % intervals. Clinicians need them because a category is withheld
 * if the interval of its value contains a limit.
 */
function intervalsText({ intervals = {} }: EvidenceEntry): string {
  return Object.entries(intervals)
    .map(([key, half]) => {
      const name = conceptEntry(key)?.abbreviation ?? (key === 'others' ? 'others' : key);
      const unit = unitText(conceptEntry(key)?.unit ?? '');
      // For a percentage the unit is "points", because "%" would be read as a share of the value.
      const size =
        `${typeof half === 'number' ? half : ''} ${unit === '%' ? 'points' : unit}`.trim();
      return `${name} ± ${typeof half === 'number' ? size : `${half.percent} % of the value`}`;
    })
    .join(', ');
}

const cells = (entry: EvidenceEntry) => [
  entry.what,
  entry.model ? `\`${entry.model}\`` : 'image analysis',
  `${entry.data}${entry.real ? '' : ' (not real)'}`,
  entry.cases ?? 'none',
  errorText(entry),
  intervalsText(entry),
  entry.domain.text,
  statusText(entry),
];

/** Shown as evidence for a section that measures nothing itself. */
const CALCULATED = 'calculated from values of other sections, with the status of those values';

type Endpoint = typeof obstetricEndpoint | typeof echoEndpoint;

function tableOf({ id, title, sections }: Endpoint): string {
  const entries: readonly EvidenceEntry[] = Object.values(EVIDENCE_OF[id]);
  const rows = sections.flatMap((section) => {
    const own = entries.filter((one) => one.section === section.id);
    if (section.id === 'report') return [];
    if (own.length === 0)
      return [row(section.title, CALCULATED, '', '', '', '', '', '', '', '', '')];
    return own.map((entry) => row(section.title, ...cells(entry), entry.date, sourceText(entry)));
  });
  return `## ${title}

| section | what | by | shown on | held-out cases | error | 95 % interval | domain | status | date | source |
|---|---|---|---|---|---|---|---|---|---|---|
${rows.join('\n')}
`;
}

/** Renders `docs/evidence.md`: the evidence for every section of both endpoints. */
export function renderEvidencePage(): string {
  return `# Evidence

The evidence for each method of this software. This page is generated from
\`pipelines/concepts/method-evidence.ts\` by \`npm run docs\`; do not edit it by hand. A test compares its
numbers with \`models/*/metrics.json\`.

A value is **accepted** only if its method was compared with a reference on real images not used in
training, with at least ${LEAST_CASES} cases and an error within the stated limit, and if the input
is within the domain of these images (gestational age, size, view, model in use). The status is calculated from the table (\`reviewReason\`), never set by hand. The limits were chosen by this project.

Every other value that was measured is \`review\`: it is shown with its calipers, its interval and the
reason, its standing is \`proposed\`, and nothing is concluded from it: no category, score, centile,
critical finding or line of the impression, and what is calculated from it is \`review\` too. The sections
run twice, on what counts and on everything that was measured, and their conclusions are those of the
first run (\`pipelines/result/needs-review.ts\`). Values of the ultrasound machine, of the request and of a
person count as they are.

\`evidence.accept: simulated\` (\`sonogate interpret --accept simulated\`) is a setting for research and
for phantoms: methods that were shown on simulated images count too, and every result, page, SR and FHIR
resource says so. The demo uses it, because its studies are phantoms.

${tableOf(obstetricEndpoint)}
${tableOf(echoEndpoint)}`;
}

const BEGIN = '<!-- evidence: written by npm run docs -->';
const END = '<!-- /evidence -->';

/**
 * Adds the evidence for a model to the text of its card. Returns the card unchanged if there is no
 * evidence for the model.
 */
export function withEvidenceOf(model: string, card: string): string {
  const own = ENTRIES.filter((entry) => entry.model === model);
  if (own.length === 0) return card;
  const table = `${BEGIN}

## Evidence

| what | by | shown on | held-out cases | error | domain | status |
|---|---|---|---|---|---|---|
${own.map((entry) => row(...cells(entry))).join('\n')}

[The rule and the other methods](../../docs/evidence.md)

${END}`;
  const begin = card.indexOf(BEGIN);
  const end = card.indexOf(END);
  if (begin < 0 || end < begin) return `${card.trimEnd()}\n\n${table}\n`;
  return `${card.slice(0, begin)}${table}${card.slice(end + END.length)}`;
}
