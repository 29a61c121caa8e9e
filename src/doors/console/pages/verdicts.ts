import type { ConditionVerdict, RuleVerdict } from '../contract.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { chip, given } from './words.ts';

function conditionView({
  condition,
  wanted,
  found,
  holds,
  parts,
}: ConditionVerdict): TemplateResult {
  const seen = found === null ? 'not shown to your role' : found === '' ? 'nothing' : found;
  return html`<li>
    <span class=${holds ? 'met' : 'unmet'}>${holds ? '✓' : '✗'}</span>
    <span class="hidden-text">${holds ? 'met:' : 'not met:'}</span>
    ${given(condition)} ${wanted ? html`<span class="soft">expected</span> ${given(wanted)}` : nothing}
    ${parts ? nothing : html`<span class="soft">found</span> ${given(seen)}`}
    ${parts ? html`<ul>${parts.map(conditionView)}</ul>` : nothing}
  </li>`;
}

function outcome({ acts, matches }: RuleVerdict): TemplateResult {
  if (acts) return chip('good', 'Applies');
  return matches
    ? chip('quiet', 'Matches, but an earlier rule applies')
    : chip('quiet', 'Does not match');
}

/** Renders each rule with its conditions, and which of them a study met. */
export function verdictsView(verdicts: readonly RuleVerdict[]): TemplateResult {
  return html`<ul class="verdicts">
    ${verdicts.map(
      (verdict) => html`<li>
        <details ?open=${verdict.acts}>
          <summary><strong>${given(verdict.rule)}</strong> ${outcome(verdict)}</summary>
          <ul>
            ${
              verdict.conditions.length > 0
                ? verdict.conditions.map(conditionView)
                : html`<li class="soft">Has no conditions: applies to every study.</li>`
            }
          </ul>
        </details>
      </li>`,
    )}
  </ul>`;
}
