import type { ElementPart } from 'lit-html';
import { Directive, directive } from 'lit-html/directive.js';

/**
 * The parts of the rendering library that the pages use. Text passed to it is never parsed as
 * markup.
 */
export { html, nothing, render, svg, type TemplateResult } from 'lit-html';
export { live } from 'lit-html/directives/live.js';
export { ref } from 'lit-html/directives/ref.js';
export { repeat } from 'lit-html/directives/repeat.js';

class StyledDirective extends Directive {
  override update(part: ElementPart, [properties]: [Readonly<Record<string, string>>]): void {
    if (!(part.element instanceof HTMLElement)) return;
    for (const [name, value] of Object.entries(properties)) {
      part.element.style.setProperty(name, value);
    }
  }

  render(_properties: Readonly<Record<string, string>>): void {}
}

/**
 * Sets style properties by script, as in `<div ${styled({ height: '4px' })}>`. The library's own
 * `styleMap` writes the attribute, which the content security policy forbids.
 */
export const styled = directive(StyledDirective);
