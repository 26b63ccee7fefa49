package main

import "github.com/anishathalye/porcupine"

// A directory with one file, which is in one of several places; in the first one at the beginning.
const firstPlace = "a"

var moves = checker{
	parts: whole(named("look")),
	model: porcupine.Model{
		Init: func() any { return firstPlace },
		Step: func(state, input, _ any) (bool, any) {
			place, one := state.(string), input.(*operation)
			if one.Operation == "look" {
				isRight, next := oneOf(one, place == one.Arguments.At, place, place, 404)
				return isRight, next
			}
			isRight, next := oneOf(one, place == one.Arguments.From, place, one.Arguments.To, 404)
			return isRight, next
		},
	},
}
