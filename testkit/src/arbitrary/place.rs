//! Places that generated statements assign to.

use graph::{Place, PlaceRoot, PlaceStep};
use tuple::Type;

use super::generator::ProgramGenerator;

impl ProgramGenerator<'_> {
    /// A variable that can be changed, or a part of one.
    pub(super) fn place(&mut self) -> Option<Place> {
        let roots = self.changeable_roots();
        if roots.is_empty() {
            return None;
        }
        let root = *self.choices.one_of(&roots);
        let mut place = self.variable_place(root);
        while self.choices.percent(50) {
            let Some((step, ty)) = self.step(&place.ty) else {
                break;
            };
            place = place.with_step(step, ty);
        }
        Some(place)
    }

    /// A place of a type.
    pub(super) fn place_of(&mut self, fits: impl Fn(&Type) -> bool) -> Option<Place> {
        let mut roots = self.changeable_roots();
        roots.retain(|&root| fits(self.type_of(root)));
        if roots.is_empty() {
            return None;
        }
        let root = *self.choices.one_of(&roots);
        Some(self.variable_place(root))
    }

    /// The place that is a whole variable.
    pub(super) fn variable_place(&mut self, root: PlaceRoot) -> Place {
        let mut place = Place::new(root, self.type_of(root).clone());
        place.pos = self.pos();
        place
    }

    /// A step into a type.
    fn step(&mut self, ty: &Type) -> Option<(PlaceStep, Type)> {
        match ty {
            Type::Tuple(t) => {
                let at = self.choices.below(t.attributes.len());
                Some((PlaceStep::Field(at as u32), t.attributes[at].ty.clone()))
            }
            Type::List(element, _) => {
                let at = self.index();
                Some((PlaceStep::Index(at), (**element).clone()))
            }
            Type::Map(entry, _) => {
                let key = self.expr(&entry.0, 1);
                Some((PlaceStep::Index(key), entry.1.clone()))
            }
            Type::Blob => {
                let at = self.index();
                Some((PlaceStep::Index(at), Type::Uint8))
            }
            _ => None,
        }
    }
}
