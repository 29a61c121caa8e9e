/** Tells changes to assistive technology (WCAG 4.1.3), apart from what is drawn anew. */
export interface Speaker {
  /** `now` interrupts what is being read. */
  say(text: string, how?: 'calmly' | 'now'): void;
}

/** Makes the two live regions once; a region that is there before it speaks is heard. */
export function createSpeaker(): Speaker {
  const regions = { calmly: region('polite'), now: region('assertive') };
  return {
    say(text, how = 'calmly') {
      // The same text again is a change only when it is another node.
      regions[how].replaceChildren(document.createTextNode(text));
    },
  };
}

function region(politeness: 'polite' | 'assertive'): HTMLElement {
  const element = document.createElement('div');
  element.className = 'hidden-text';
  element.setAttribute('aria-live', politeness);
  document.body.append(element);
  return element;
}
