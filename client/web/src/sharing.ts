// Recipe A for others: the name under which they follow it, and links.

import {START, writeLink} from './link.ts';
import {find, press, say, toggle} from './ui/dom.ts';
import type {Viewer} from './viewer.ts';

const WAIT_MS = 2000; // for the page before a reload to let go of its name

export class Sharing {
  readonly element = toggle('Share', 'Lets other pages and programs follow recipe A, and copies the link', (on) => void (on ? this.#shareNew() : this.#share('')));
  #letGo = () => {};

  constructor(private readonly viewer: Viewer, private readonly copy: (text: string, done: string) => Promise<void>) {}

  // After a reload, shares the same character under the same name. A tab that was duplicated has a copy of that name,
  // which its original goes on to use: then the result says so.
  async again(): Promise<string> {
    const kept = JSON.parse(sessionStorage.getItem('share') || 'null') as {name: string; rig: string} | null;
    const fits = kept !== null && kept.rig === this.viewer.info.rig;
    const held = fits && await this.#hold(kept.name);
    this.#share(held ? kept.name : '');
    return !fits || held ? '' : `${kept.name} is shared by another tab, not by this one. Share gives this one a name of its own.`;
  }

  // The address of a link, with the token of a program, which opens its page; that of a person stays theirs.
  address(link: string): string {
    const token = this.viewer.info.ofServer ? '' : `&token=${encodeURIComponent(sessionStorage.getItem('token') ?? '')}`;
    return `${location.origin}${location.pathname}#${link}${token}`;
  }

  get aboutToken(): string {
    return this.viewer.info.ofServer ? 'Your token is not in it.' : 'It holds the token of this server.';
  }

  // Under this name; '' = no longer.
  #share(name: string): void {
    const {viewer} = this;
    if (!name) this.#letGo();
    sessionStorage.setItem('share', name && JSON.stringify({name, rig: viewer.info.rig}));
    press(this.element, name !== '');
    say(find('label'), name ? `${viewer.info.label} · shared as ${name}` : viewer.info.label);
    viewer.share(name);
  }

  async #shareNew(): Promise<void> {
    const random = crypto.getRandomValues(new Uint16Array(1))[0].toString(16).padStart(4, '0');
    const name = `${this.viewer.info.label.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 40)}-${random}`;
    void this.#hold(name);
    this.#share(name);
    await this.copy(this.address(writeLink({...START, follow: name})),
      `Shared as ${name}. The link to follow it is in the clipboard. ${this.aboutToken}`);
  }

  // Whether this tab has the name now; until it lets go or ends, no other one of this browser gets it.
  #hold(name: string): Promise<boolean> {
    return new Promise((resolve) => {
      navigator.locks.request(`share ${name}`, {signal: AbortSignal.timeout(WAIT_MS)}, () => {
        resolve(true);
        return new Promise<void>((done) => (this.#letGo = done));
      }).catch(() => resolve(false));
    });
  }
}
