import {expect, test} from 'vitest';
import {parseRecipe, recipeError, recipeText} from './recipe_text.ts';

test.each(['lbs', 'dqs(blend=0.5) | bulge_free', 'shapes | ddm(radius=0.03, laplacian=uniform) | relax'])('%s is read and written', (text) => {
  expect(recipeText(parseRecipe(text)!)).toBe(text);
});

test('spaces do not matter', () => expect(recipeText(parseRecipe(' dqs ( blend = 0.5 )|relax()')!)).toBe('dqs(blend=0.5) | relax'));

test.each(['', 'lbs |', 'dqs(blend', 'dqs(blend=)', 'a b'])('"%s" has no sliders', (text) => expect(parseRecipe(text)).toBeNull());

// Messages as the server words them.
test.each([
  ['ddm(radus=3)', 'source.recipe.stages[0].ddm.radus: unknown parameter', 'radus: unknown parameter', 'radus=3'],
  ['lbs | delta_mush(step=x)', "source.recipe.stages[1].delta_mush.step: got 'x', need a number", "step: got 'x', need a number", 'step=x'],
  ['lbs | ddm', 'source.recipe.stages[1]: ddm reads rest positions', 'ddm reads rest positions', 'ddm'],
  ['dqs(blend_map=zz)', "recipe.stages[0].dqs.blend_map: the rig has no vertex map 'zz'", "blend_map: the rig has no vertex map 'zz'", 'blend_map=zz'],
  ['lbs | foo', "source.recipe_text: got method 'foo', need one of lbs", "got method 'foo', need one of lbs", 'foo'],
  ['lbs)', "source.recipe_text: got ')' at column 4, need '|'", "got ')' at column 4, need '|'", ')'],
  ['lbs |', 'source.recipe_text: got the end at column 6', 'got the end at column 6', ''],
])('the error of %s is about a part of it', (text, message, said, part) => {
  const error = recipeError(text, message);
  expect(error.message).toBe(said);
  expect(text.slice(...error.place!)).toBe(part);
});

test('another error is about no part', () => expect(recipeError('lbs', 'No such rig.')).toEqual({message: 'No such rig.', place: null}));
